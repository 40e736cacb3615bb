"""A titled box of lines on the Overview; a line that carries a query opens the Search screen with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.cells import cell_len
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tierdeck_tui.actions import bindings_for
from tierdeck_tui.view.sanitise import cut, pad, visible

State = Literal["plain", "good", "warn", "bad", "muted"]
BAR = "█"
BAR_REST = "░"


@dataclass(frozen=True, slots=True)
class CardLine:
    """One line: a label, a value, and a share from 0 to 1 that is drawn as a bar.

    `query` is what the Search screen opens with; None when the line leads nowhere. Label and value may hold
    anybody's text: the card makes it safe.
    """

    label: str
    value: str = ""
    share: float | None = None
    state: State = "plain"
    query: str | None = None


class Card(Widget, can_focus=True):
    """A box that shows lines, with a cursor on those that open something."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("overview"))
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "card--cursor",
        "card--bar",
        "card--good",
        "card--warn",
        "card--bad",
        "card--muted",
        "card--plain",
    }

    class Opened(Message):
        """A line was chosen; `query` is what to search for."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query = query

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__(id=id)
        self.border_title = title
        self._lines: tuple[CardLine, ...] = (CardLine("reading…", state="muted"),)
        self._cursor = 0

    @property
    def lines(self) -> tuple[CardLine, ...]:
        """What is shown."""
        return self._lines

    def show(self, lines: Sequence[CardLine]) -> None:
        """Show these lines; the cursor stays on its line, or goes to the last one that opens something."""
        self._lines = tuple(lines)
        self._cursor = self._nearest(self._cursor)
        self.refresh(layout=True)

    def render(self) -> Content:
        """The lines, each cut to the width."""
        width = self.content_size.width
        label_cells = max((cell_len(visible(line.label, one_line=True)) for line in self._lines), default=0)
        label_cells = min(label_cells, max(width // 2, 12))
        return Content("\n").join(self._line(index, label_cells, width) for index in range(len(self._lines)))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        """As many rows as there are lines."""
        return len(self._lines)

    def action_line_down(self) -> None:
        """The cursor to the next line that opens something."""
        self._move(1)

    def action_line_up(self) -> None:
        """The cursor to the line before that opens something."""
        self._move(-1)

    def action_next_card(self) -> None:
        """Focus the next card."""
        self.screen.focus_next(Card)

    def action_open_line(self) -> None:
        """Open the Search screen with the line's query."""
        if self._lines and (query := self._lines[self._cursor].query) is not None:
            self.post_message(self.Opened(query))

    def on_click(self, event: events.Click) -> None:
        """A click on a line opens it."""
        row = event.get_content_offset(self)
        if row is not None and row.y < len(self._lines) and self._lines[row.y].query is not None:
            self._cursor = row.y
            self.action_open_line()

    def _move(self, step: int) -> None:
        at = self._cursor + step
        while 0 <= at < len(self._lines):
            if self._lines[at].query is not None:
                self._cursor = at
                self.refresh()
                return
            at += step

    def _nearest(self, wanted: int) -> int:
        opening = [index for index, line in enumerate(self._lines) if line.query is not None]
        return min(opening, key=lambda index: abs(index - wanted), default=0)

    def _line(self, index: int, label_cells: int, width: int) -> Content:
        line = self._lines[index]
        label = visible(line.label, one_line=True)
        value = visible(line.value, one_line=True)
        if not value and line.share is None:
            return self._marked(index, Content.styled(cut(label, width), self._style(line.state)), width)
        label = pad(label, label_cells)
        bar_cells = 0 if line.share is None else max(width - label_cells - cell_len(value) - 2, 0)
        bar = _bar(line.share or 0.0, bar_cells)
        content = Content.assemble(
            label,
            " ",
            (bar + " " if bar else "", self.get_visual_style("card--bar")),
            (cut(value, max(width - label_cells - 1, 1)), self._style(line.state)),
        )
        return self._marked(index, content, width)

    def _marked(self, index: int, content: Content, width: int) -> Content:
        if not self.has_focus or index != self._cursor or self._lines[index].query is None:
            return content
        plain = pad(content.plain, width)
        return Content.styled(plain, self.get_visual_style("card--cursor"))

    def _style(self, state: State) -> object:
        return self.get_visual_style(f"card--{state}")


def _bar(share: float, cells: int) -> str:
    filled = min(cells, round(share * cells))
    if share > 0 and filled == 0 and cells:
        filled = 1  # what is there at all is seen
    return BAR * filled + BAR_REST * (cells - filled)
