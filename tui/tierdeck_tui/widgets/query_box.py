"""The query box: one line, with the queries that were asked before behind ↑ and ↓."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import Input

from tierdeck_tui.widgets.safe_input import SafeInput

MAX_HISTORY = 200


class QueryBox(SafeInput):
    """Posts `Input.Changed` while typing, `Input.Submitted` on Enter, `Left` when ↓ has nothing newer to show."""

    DEFAULT_CSS = """
    QueryBox { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    QueryBox:focus { border: none; background: $panel; }
    """

    @dataclass
    class Left(Message):
        """The operator wants to go on into the list."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            placeholder="words, or tier:longterm type:fact conf>0.6 since:7d",
            compact=True,
            select_on_focus=False,
            id=id,
        )
        self._history: list[str] = []
        self._back = 0
        self._draft = ""

    def remember(self, query: str) -> None:
        """Put a query on top of the history; one that stands there already moves up."""
        self._back = 0
        if query.strip():
            others = [old for old in self._history if old != query]
            self._history = [*others[-MAX_HISTORY + 1 :], query]

    def set_query(self, query: str) -> None:
        """Put a text in the box, the cursor behind it."""
        self.value = query
        self.cursor_position = len(self.value)

    def key_up(self, event: events.Key) -> None:
        """An older query."""
        event.stop()
        if self._back < len(self._history):
            if self._back == 0:
                self._draft = self.value
            self._back += 1
            self.set_query(self._history[-self._back])

    def key_down(self, event: events.Key) -> None:
        """A newer query, then what was being typed, then the list."""
        event.stop()
        if self._back == 0:
            self.post_message(self.Left())
            return
        self._back -= 1
        self.set_query(self._history[-self._back] if self._back else self._draft)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """What was asked for is remembered."""
        self.remember(event.value)
