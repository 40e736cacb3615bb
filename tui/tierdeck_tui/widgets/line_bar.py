"""One line that says something: the filters in force, the state of the search."""

from __future__ import annotations

from rich.cells import cell_len
from textual.strip import Strip

from tierdeck_tui.view.line import Line, fit, text_of
from tierdeck_tui.widgets.lines_view import LinesView


class LineBar(LinesView, can_focus=False):
    """Shows one `Line`, in a shorter form where the longer does not fit, and cut to its width."""

    DEFAULT_CSS = """
    LineBar { height: 1; overflow: hidden hidden; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._line: Line = ()
        self._short: Line = ()

    @property
    def text(self) -> str:
        """What it says, uncut."""
        return text_of(self._line)

    def show(self, line: Line, short: Line = ()) -> None:
        """Say this instead; `short` where it does not fit."""
        self._line, self._short = line, short
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - there is only one
        """The line."""
        is_cut = cell_len(text_of(self._line)) > self.size.width
        return self.strip_of(
            fit(self._short if is_cut and self._short else self._line, self.size.width), self.ground
        )
