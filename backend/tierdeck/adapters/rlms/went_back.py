"""How a turn tells that an operator had the session go back."""

from __future__ import annotations

from tierdeck.checkpoint.running import Resumed


class WentBackError(Exception):
    """Leaves the package's loop, whose turn number can't be set; never leaves the adapter."""

    def __init__(self, resumed: Resumed) -> None:
        super().__init__("the session went back")
        self.resumed = resumed
