"""Calls whose outcome is not known, a row each, and what is chosen about each: ← and → change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events
from textual.message import Message

from tierdeck.checkpoint.running import OpenOperation
from tierdeck_tui.view.checkpoint.decision import LEFT, Chosen, choice_row
from tierdeck_tui.view.line import Line
from tierdeck_tui.widgets.line_list import LineList

MAX_ROWS = 4


class CallList(LineList):
    """The list. It takes no more than four rows, and none when there is no call."""

    DEFAULT_CSS = """
    CallList { height: 0; }
    """

    class Chose(Message):
        """Something else was chosen about the call under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._operations: Sequence[OpenOperation] = ()
        self._chosen: dict[str, Chosen] = {}

    @property
    def current(self) -> OpenOperation | None:
        """The call under the cursor."""
        return self._operations[self.cursor_number] if self._operations else None

    @property
    def chosen(self) -> Mapping[str, Chosen]:
        """What was chosen, by the calls' ids; those that are not there are left to the agent."""
        return self._chosen

    def chosen_about(self, operation: OpenOperation) -> Chosen:
        """What was chosen about a call."""
        return self._chosen.get(operation.entry.op_id, LEFT)

    def show_calls(
        self, operations: Sequence[OpenOperation], chosen: Mapping[str, Chosen], *, keep_cursor: bool = False
    ) -> None:
        """List these, with what was chosen about them before."""
        self._operations, self._chosen = operations, dict(chosen)
        self.styles.height = min(len(operations), MAX_ROWS)
        self.display = bool(operations)
        self.show([each.entry.op_id for each in operations], self._row, keep_cursor=keep_cursor)

    def choose(self, chosen: Chosen) -> None:
        """Choose this about the call under the cursor."""
        if self.current is not None and chosen != self.chosen_about(self.current):
            self._chosen[self.current.entry.op_id] = chosen
            self.refresh()
            self.post_message(self.Chose())

    def on_key(self, event: events.Key) -> None:
        """The next choice, or the one before."""
        if event.key in ("left", "right", "space") and self.current is not None:
            self.choose(self.chosen_about(self.current).next(-1 if event.key == "left" else 1))
            event.stop()
            event.prevent_default()

    def _row(self, number: int, cells: int) -> Line:
        operation = self._operations[number]
        return choice_row(operation, self.chosen_about(operation), cells)
