"""Asks which of a few things to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import events
from textual.widget import Widget

from tierdeck_tui.screens.dialog import CANCEL_ID, Dialog
from tierdeck_tui.widgets.dialog_button import DialogButton


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the things to choose from; `id` is the answer, `label` may quote anybody's words."""

    id: str
    label: str


class ChoiceDialog(Dialog[str]):
    """Offers some choices below one another; the answer is the id of the one that was pressed.

    Args:
        choices: in the order shown; the first nine are reached by their digit too.
        first: the id that the focus begins on, for choices that change nothing; by default it begins on Cancel.
    """

    def __init__(self, title: str, text: str, choices: Sequence[Choice], *, first: str | None = None) -> None:
        super().__init__(title, text, keys="↑ ↓ choose · enter press · esc cancel")
        self.add_class("-list")
        self._choices = tuple(choices)
        self._first = first

    def compose_buttons(self) -> Iterable[Widget]:
        """The choices, then Cancel."""
        for number, choice in enumerate(self._choices, 1):
            yield DialogButton(f"{number} {choice.label}" if number < 10 else choice.label, choice.id)
        yield DialogButton("Cancel", "", id=CANCEL_ID)

    def on_mount(self) -> None:
        """Focus the first choice where it is harmless."""
        for button in self.query(DialogButton):
            if button.value == self._first and button.id != CANCEL_ID:
                button.focus()

    def on_key(self, event: events.Key) -> None:
        """A digit goes to its choice; enter presses it."""
        if self.is_repeat(event) or not event.key.isdecimal():
            return
        index = int(event.key) - 1
        if 0 <= index < len(self._choices):
            self.query(DialogButton)[index].focus()

    def answer(self, button: DialogButton, /) -> str:
        """The id of the choice."""
        return button.value
