"""Asks whether to do something that changes the store."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from tierdeck_tui.screens.dialog import Dialog
from tierdeck_tui.widgets.dialog_button import DialogButton


class ConfirmDialog(Dialog[bool]):
    """Shows what would happen and asks for it; True only when its own button was pressed.

    Args:
        title, text: what would happen, to what; may quote anybody's words.
        confirm: the button's label, a verb: "Take back".
    """

    def __init__(self, title: str, text: str, *, confirm: str) -> None:
        super().__init__(title, text, keys="tab choose · enter press · esc cancel")
        self._confirm = confirm

    def compose_buttons(self) -> Iterable[Widget]:
        """Cancel, and the button that does it."""
        yield from super().compose_buttons()
        yield DialogButton(self._confirm, "confirm", id="confirm")

    def answer(self, button: DialogButton, /) -> bool:
        """True for its own button."""
        return button.value == "confirm"
