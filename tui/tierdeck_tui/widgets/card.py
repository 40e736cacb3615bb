"""A titled box of lines on the Overview; a line can open another screen, filtered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from tierdeck_tui.actions import bindings_for
from tierdeck_tui.view.card_line import GAP, CardLine, LaidOut, lay_out
from tierdeck_tui.view.sanitise import pad
from tierdeck_tui.widgets.component_style import component_style

READING = (CardLine("reading…", state="muted"),)
# Not component classes, as in `role_style`: with seven of them a card, the Overview took 60 ms to come up.
_STYLES = {
    "label": "$text-muted",
    "bar": "$text-primary",
    "plain": "$foreground",
    "muted": "$text-muted",
    "good": "$text-success",
    "warn": "$text-warning",
    "bad": "bold $text-error",
}


class Card(Widget, can_focus=True):
    """A box that shows lines, with a cursor on those that open something."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("overview"))
    COMPONENT_CLASSES: ClassVar[set[str]] = {"card--cursor"}

    @dataclass
    class Opened(Message):
        """A line was chosen; `query` is what to search for."""

        query: str

    @dataclass
    class BoardOpened(Message):
        """A line was chosen that leads to the Promotions screen: its tab, and the rule to show, or all."""

        tab: str
        rule: str | None

    @dataclass
    class CheckpointsOpened(Message):
        """A line was chosen that leads to the Checkpoints screen."""

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__(id=id)
        self.border_title = title
        self._lines: tuple[CardLine, ...] = READING
        self._cursor = 0

    @property
    def lines(self) -> tuple[CardLine, ...]:
        """What is shown."""
        return self._lines

    @property
    def cursor_query(self) -> str | None:
        """What `enter` would search for now; None when it would do something else, or nothing."""
        return self._lines[self._cursor].query if self._cursor < len(self._lines) else None

    def show(self, lines: Sequence[CardLine]) -> None:
        """Show these lines; the cursor stays at its place, or goes to the nearest line that opens something."""
        self._lines = tuple(lines)
        opening = [index for index, line in enumerate(self._lines) if line.leads_on]
        self._cursor = min(opening, key=lambda index: abs(index - self._cursor), default=0)
        self.refresh(layout=True)

    def render(self) -> Content:
        """The lines in columns."""
        return Content("\n").join(self._painted(row) for row in lay_out(self._lines, self.content_size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many rows as the lines take at this width."""
        return len(lay_out(self._lines, width))

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
        """Open what the line under the cursor leads to."""
        line = self._lines[self._cursor] if self._cursor < len(self._lines) else CardLine("")
        if line.query is not None:
            self.post_message(self.Opened(line.query))
        elif line.tab is not None:
            self.post_message(self.BoardOpened(line.tab, line.rule))
        elif line.opens_checkpoints:
            self.post_message(self.CheckpointsOpened())

    def on_click(self, event: events.Click) -> None:
        """A click on a line opens it."""
        place = event.get_content_offset(self)
        rows = lay_out(self._lines, self.content_size.width)
        if place is not None and place.y < len(rows) and self._lines[rows[place.y].index].leads_on:
            self._cursor = rows[place.y].index
            self.action_open_line()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _move(self, step: int) -> None:
        at = self._cursor + step
        while 0 <= at < len(self._lines) and not self._lines[at].leads_on:
            at += step
        if 0 <= at < len(self._lines):
            self._cursor = at
            self.refresh()

    def _painted(self, row: LaidOut) -> Content:
        line = self._lines[row.index]
        cursor = None
        if self.has_focus and row.index == self._cursor and line.leads_on:
            cursor = component_style(self, "card--cursor")
        value_style = cursor or _STYLES[line.state]
        if not row.value and not row.bar:
            return self._filled(Content.styled(row.label, value_style), cursor)
        words = Content.assemble((row.label + GAP, cursor or _STYLES["label"]), (row.value, value_style))
        if line.share is None:
            return self._filled(words, cursor)
        # The cursor stops before the bar: in its colour, or in reverse video, no one could see where the bar ends.
        return Content.assemble(words, (GAP + row.bar if row.bar else "", _STYLES["bar"]))

    def _filled(self, content: Content, cursor: Style | None) -> Content:
        if cursor is None:
            return content
        rest = pad("", self.content_size.width - cell_len(content.plain))
        return Content.assemble(content, (rest, cursor))
