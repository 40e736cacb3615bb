"""Text boxes that show nothing a terminal obeys: what is pasted may come from anywhere."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from tierdeck_tui.view.sanitise import visible


class SafeInput(Input):
    """A one-line box. Control and hidden characters become visible signs, line breaks blanks."""

    def validate_value(self, value: str) -> str:
        """The value as the box holds and shows it."""
        return visible(value.replace("\r\n", " ").replace("\n", " ").replace("\t", " "), one_line=True)

    def _on_paste(self, event: events.Paste) -> None:
        # Textual would keep the first line only, and of a query copied from a log that is rarely the right one.
        event.prevent_default()
        event.stop()
        text = self.validate_value(event.text.strip("\r\n"))
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *self.selection)
