"""One line of tabs with how much each holds; the one that is shown stands in brackets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from tierdeck_tui.view.line import Line, Piece, fit, text_of
from tierdeck_tui.widgets.lines_view import LinesView


@dataclass(frozen=True, slots=True)
class TabTitle:
    """A tab: its name, and what it holds, in our own words."""

    name: str
    title: str
    number: str = ""


class TabBar(LinesView, can_focus=False):
    """The tabs, and at the right what else there is to say. A click on a tab posts `Chosen`."""

    DEFAULT_CSS = """
    TabBar { height: 1; overflow: hidden hidden; }
    """

    @dataclass
    class Chosen(Message):
        """A tab was clicked."""

        name: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: Sequence[TabTitle] = ()
        self._here = ""
        self._right: Line = ()

    def show(self, tabs: Sequence[TabTitle], here: str, right: Line) -> None:
        """Show these tabs, closer together where they do not fit; `right` is left out where there is no room."""
        self._tabs, self._here, self._right = tabs, here, right
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click on a tab goes there."""
        left = 0
        gap = self._gap
        for tab in self._tabs:
            cells = cell_len(text_of(self._pieces(tab, gap)))
            if left <= event.x < left + cells:
                self.post_message(self.Chosen(tab.name))
            left += cells

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - there is only one
        """The line."""
        cells = self.size.width
        pieces = self._all_pieces(self._gap)
        gap = cells - cell_len(text_of(pieces)) - cell_len(text_of(self._right))
        if self._right and gap >= 1:
            pieces += [Piece(" " * gap), *self._right]
        return self.strip_of(fit(pieces, cells), self.ground)

    @property
    def _gap(self) -> str:
        wide = cell_len(text_of(self._all_pieces(" ")).rstrip())
        return " " if wide <= self.size.width else ""

    def _all_pieces(self, gap: str) -> list[Piece]:
        return [piece for tab in self._tabs for piece in self._pieces(tab, gap)]

    def _pieces(self, tab: TabTitle, gap: str) -> list[Piece]:
        number = f" {tab.number}" if tab.number else ""
        if tab.name == self._here:
            return [Piece(f"[{tab.title}{number}]", "mark"), Piece(gap)]
        return [Piece(f" {tab.title}"), Piece(number, "muted"), Piece(f" {gap}")]
