"""One line that says something: the filters in force, the state of the search."""

from __future__ import annotations

from textual.strip import Strip

from tierdeck_tui.view.line import Line, fit, text_of
from tierdeck_tui.widgets.lines_view import LinesView


class LineBar(LinesView, can_focus=False):
    """Shows one `Line`, cut to its width."""

    DEFAULT_CSS = """
    LineBar { height: 1; overflow: hidden hidden; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._line: Line = ()

    @property
    def text(self) -> str:
        """What it says, uncut."""
        return text_of(self._line)

    def show(self, line: Line) -> None:
        """Say this instead."""
        self._line = line
        self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - there is only one
        """The line."""
        return self.strip_of(fit(self._line, self.size.width), self.rich_style)
