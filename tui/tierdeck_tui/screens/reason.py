"""Asks for the reason of something that changes the store, and so confirms it."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events, on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from tierdeck.promote.reason import MIN_REASON_CHARS, reason_chars
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.dialog import Dialog, Result
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.safe_input import SafeInput


class ReasonedDialog(Dialog[Result]):
    """Shows what would happen and asks why; subclasses say what the answer holds beside the reason.

    The focus begins on Cancel; what is typed goes into the box all the same. Enter and tab in the box go on to the
    button and do not press it. Who cancels is asked before what was typed is lost.

    Args:
        title, text: what would happen, to what; may quote anybody's words.
        confirm: the button's label, a verb: "Archive".
        is_mandatory: at least `MIN_REASON_CHARS` visible characters are asked for.
        keys: what the bottom line says about the keys.
    """

    def __init__(
        self,
        title: str,
        text: str,
        *,
        confirm: str,
        is_mandatory: bool = True,
        keys: str = "type · tab next · enter · esc cancel",
    ) -> None:
        super().__init__(title, text, keys=keys)
        self._confirm = confirm
        self._is_mandatory = is_mandatory

    def compose_question(self) -> Iterable[Widget]:
        """The box, and what it still lacks."""
        rule = f"at least {MIN_REASON_CHARS} characters" if self._is_mandatory else "may be left empty"
        yield SafeInput(id="reason", placeholder=f"why? ({rule})", compact=True, select_on_focus=False)
        yield Static("", id="reason-lacks", markup=False)

    def compose_buttons(self) -> Iterable[Widget]:
        """Cancel, and the button that does it once there is a reason."""
        yield from super().compose_buttons()
        yield DialogButton(self._confirm, "confirm", id="confirm", disabled=self._is_mandatory)

    def on_mount(self) -> None:
        """Say what is lacking."""
        self.look()

    @property
    def reason(self) -> str:
        """The reason as typed, without the spaces around it."""
        return self._box.value.strip()

    def on_key(self, event: events.Key) -> None:
        """What is typed while a button has the focus goes into the box."""
        if self.is_repeat(event):
            return
        if event.is_printable and event.character and event.key != "space" and self.focused is not self._box:
            self._box.focus()
            self._box.insert_text_at_cursor(event.character)
            event.stop()

    @property
    def _box(self) -> Input:
        return self.query_one("#reason", Input)

    @on(Input.Changed)
    def _changed(self) -> None:
        self.look()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        if self._go_to_confirm():
            self.hold_last_key()  # enter: held down, it would go on to press

    def action_next_button(self) -> None:
        """From the reason to the button that takes it; elsewhere to the next."""
        if self.focused is not self._box or not self._box.value.strip() or not self._go_to_confirm():
            super().action_next_button()

    def action_cancel(self) -> None:
        """Close without doing anything; ask before something typed is lost."""
        if not self.holds_work():
            super().action_cancel()
            return

        def leave(is_sure: bool | None) -> None:
            if is_sure:
                self.dismiss(None)

        text = "What you entered is not kept. Cancel goes back to it."
        self.app.push_screen(ConfirmDialog(f"{self._confirm}: leave it?", text, confirm="Drop it"), leave)

    def _go_to_confirm(self) -> bool:
        button = self.query_one("#confirm", DialogButton)
        if not button.disabled:
            button.focus()
        return not button.disabled

    def holds_work(self) -> bool:
        """Whether something was typed that would be lost."""
        return any(box.value.strip() for box in self.query(SafeInput))

    def lacking(self) -> str:
        """What the answer still lacks, in words; empty when nothing does."""
        if self._is_mandatory and reason_chars(self._box.value) < MIN_REASON_CHARS:
            return f"a reason of at least {MIN_REASON_CHARS} characters is needed"
        return ""

    def look(self) -> None:
        """Say what is lacking, and let the button be pressed when nothing is."""
        note = self.lacking()
        self.query_one("#confirm", DialogButton).disabled = bool(note)
        self.query_one("#reason-lacks", Static).update(Content(visible(note, one_line=True)))


class ReasonDialog(ReasonedDialog[str]):
    """Shows what would happen and asks why; the answer is the reason, None when cancelled."""

    def answer(self, _: DialogButton, /) -> str:
        """The reason."""
        return self.reason
