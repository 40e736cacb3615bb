"""What is shown while the store is still being opened, which takes more than a moment only when it is held."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textual.containers import Center, Middle
from textual.widget import Widget
from textual.widgets import Static

from tierdeck.errors import StoreBusyError
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.view.sanitise import visible


class OpeningScreen(FrameScreen):
    """One sentence in the middle of the screen."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._text = visible(f"Opening {path} …")

    def compose_body(self) -> Iterable[Widget]:
        """The sentence."""
        with Middle(), Center():
            yield Static(self._text, id="opening", markup=False)

    def show_busy(self, error: StoreBusyError) -> None:
        """Say that another program holds the store, and that this goes on trying."""
        self._text = visible(f"{error.message}\n\nTrying again until it is free; q leaves.")
        for line in self.query("#opening").results(Static):  # none yet when it was held from before the start
            line.update(self._text)
