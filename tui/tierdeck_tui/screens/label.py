"""Asks for a checkpoint's label: of one that is there, or of one that is to be made."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events, on
from textual.widget import Widget
from textual.widgets import Input

from tierdeck.checkpoint.file.summary import MAX_LABEL_CHARS
from tierdeck_tui.screens.dialog import Dialog
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.safe_input import SafeInput


class LabelDialog(Dialog[str]):
    """The label as it is to be, without the spaces around it; "" for none, None is a cancel.

    The focus begins on Cancel; what is typed goes into the box all the same.

    Args:
        label: the one it has.
        confirm: the button's label, a verb.
        empty: what an empty box means.
    """

    def __init__(
        self,
        title: str,
        text: str,
        label: str | None,
        *,
        confirm: str = "Label",
        empty: str = "empty takes it away",
    ) -> None:
        super().__init__(title, text, keys="type · tab choose · enter press · esc cancel")
        self._label = label or ""
        self._confirm = confirm
        self._empty = empty

    def compose_question(self) -> Iterable[Widget]:
        """The box."""
        yield SafeInput(
            visible(self._label, one_line=True),
            id="reason",
            placeholder=f"label, at most {MAX_LABEL_CHARS} characters; {self._empty}",
            max_length=MAX_LABEL_CHARS,
            compact=True,
            select_on_focus=False,  # else the second character typed takes the first's place
        )

    def compose_buttons(self) -> Iterable[Widget]:
        """Cancel, and the button that does it."""
        yield from super().compose_buttons()
        yield DialogButton(self._confirm, "confirm", id="confirm")

    def on_key(self, event: events.Key) -> None:
        """What is typed while a button has the focus goes into the box."""
        box = self.query_one("#reason", Input)
        if self.is_repeat(event) or self.focused is box:
            return
        if event.is_printable and event.character and event.key != "space":
            box.focus()
            box.insert_text_at_cursor(event.character)
            event.stop()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.query_one("#confirm", DialogButton).focus()
        self.hold_last_key()  # enter: held down, it would go on to press

    def answer(self, _: DialogButton, /) -> str:
        """The label."""
        return self.query_one("#reason", Input).value.strip()
