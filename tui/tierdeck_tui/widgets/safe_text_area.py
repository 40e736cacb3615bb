"""A box for a text of several lines that takes in nothing a terminal obeys."""

from __future__ import annotations

from textual import events
from textual.widgets import TextArea

from tierdeck_tui.view.sanitise import visible


class SafeTextArea(TextArea):
    """What is pasted comes in with its control and hidden characters as visible signs. What it begins with is the
    caller's to check."""

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if not self.read_only and (result := self._replace_via_keyboard(visible(event.text), *self.selection)):
            self.move_cursor(result.end_location)
