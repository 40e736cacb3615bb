"""A bar on stderr for work that takes long; nothing at all where stderr is no terminal."""

from __future__ import annotations

import shutil
import sys
from types import TracebackType

import click

from tierdeck_tui.cli.terminal import shows_progress
from tierdeck_tui.view.format import count
from tierdeck_tui.view.sanitise import cut, visible

_BAR_CELLS = 20
_DONE, _TO_DO = "█", "·"


class ProgressBar:
    """One line that is drawn over itself and is gone when the block ends."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._may_show = shows_progress()
        self._is_drawn = False

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        if self._is_drawn:
            self._draw("")

    def show(self, done: int, total: int, text: str = "") -> None:
        """Draw how far it is; `text` is any text and shown as it is, cut to the line."""
        if not self._may_show:
            return
        self._is_drawn = True
        filled = round(_BAR_CELLS * min(done / total, 1.0)) if total else 0
        bar = _DONE * filled + _TO_DO * (_BAR_CELLS - filled)
        self._draw(f"{self._doing} {bar} {count(done)} of {count(total)}  {visible(text, one_line=True)}")

    def _draw(self, line: str) -> None:
        cells = shutil.get_terminal_size((80, 24)).columns - 1  # the last cell would wrap
        # Erase to the end of the line is the one escape sequence that we write on purpose.
        click.echo(f"\r{cut(line, max(cells, 10))}\x1b[K", nl=False, err=True, color=True)
        sys.stderr.flush()
