"""An app that shows one widget and keeps what it posts."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from tierdeck.config import ConsoleSettings
from tierdeck_tui.shell import ShellApp


class Host(ShellApp):
    """Shows a widget with the focus on it."""

    def __init__(self, widget: Widget) -> None:
        super().__init__(ConsoleSettings())
        self.shown = widget
        self.posted: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.shown

    def on_mount(self) -> None:
        self.shown.focus()

    def lines(self) -> list[str]:
        """What the widget shows, line by line."""
        return [self.shown.render_line(y).text for y in range(self.shown.size.height)]
