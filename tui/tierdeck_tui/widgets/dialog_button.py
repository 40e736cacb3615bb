"""A dialog's button: one row, the focus shown by a sign and by reverse video, not by colour alone."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tierdeck_tui.view.sanitise import visible


class DialogButton(Widget, can_focus=True):
    """A button with a label and a `value` that its press carries. The label may quote anybody's words."""

    @dataclass
    class Pressed(Message):
        """The button was pressed."""

        button: DialogButton

    def __init__(self, label: str, value: str, *, id: str | None = None, disabled: bool = False) -> None:
        super().__init__(id=id, disabled=disabled)
        self.label = visible(label, one_line=True)
        self.value = value

    def render(self) -> Content:
        """The label between signs; the sign on the left says where the focus is."""
        return Content(f"{'▸' if self.has_focus else ' '} {self.label} ")

    def press(self) -> None:
        """Press it, unless it is disabled."""
        if not self.disabled:
            self.post_message(self.Pressed(self))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click presses."""
        event.stop()
        self.press()
