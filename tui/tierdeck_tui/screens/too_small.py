"""The one line that is shown in a terminal too small for anything else."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

MIN_WIDTH = 50
MIN_HEIGHT = 12


def is_too_small(size: Size) -> bool:
    """Whether the screens can't be used in a terminal of this size."""
    return size.width < MIN_WIDTH or size.height < MIN_HEIGHT


class TooSmallScreen(ModalScreen[None]):
    """Covers every other screen until the terminal has grown; only leaving works meanwhile."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "app.quit", "quit", show=False)]

    def __init__(self, size: Size) -> None:
        super().__init__()
        self._text = _text(size)

    def compose(self) -> ComposeResult:
        yield Static(self._text, id="too-small", markup=False)

    def show_size(self, size: Size) -> None:
        """Say how large the terminal is now, and must be."""
        self._text = _text(size)
        for line in self.query("#too-small").results(Static):  # none yet when the terminal shrinks twice at once
            line.update(self._text)


def _text(size: Size) -> str:
    return f"terminal too small: {size.width}x{size.height}, needs {MIN_WIDTH}x{MIN_HEIGHT}"
