"""What every dialog has in common: where the focus begins, the keys it prints, and what can't confirm it.

The key that opened a dialog is still held down, or repeats, when the dialog appears. It is ignored until another
key is pressed or until it has been still for a moment, so that it neither confirms nor dismisses what nobody read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from tierdeck_tui.action_app import ActionApp
from tierdeck_tui.actions import bindings_for
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.widgets.dialog_button import DialogButton

Result = TypeVar("Result")

# Keyboards begin to repeat after 250 to 660 ms and then repeat every 20 to 50 ms.
STILL_S = 0.7
CANCEL_ID = "cancel"
_BOX_PERCENT = 96  # of the terminal, as the style sheet has it


class Dialog(ModalScreen[Result | None]):
    """A box with a title, a text and buttons; the focus begins on Cancel. None is the answer of who cancels.

    Args:
        title, text: may quote anybody's words.
        keys: what the bottom line says about the keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("dialog"))
    AUTO_FOCUS = f"#{CANCEL_ID}"

    def __init__(self, title: str, text: str, *, keys: str) -> None:
        super().__init__()
        self._title = visible(title, one_line=True)
        self._text = visible(text)
        self._keys = keys
        self._held_key = ""
        self._held_at_s = 0.0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(self._keys)
            if self._text:
                with VerticalScroll(classes="dialog-text", can_focus=False):
                    yield Static(self._text, markup=False)
            yield from self.compose_question()
            with Container(classes="dialog-buttons"):
                yield from self.compose_buttons()

    def compose_question(self) -> Iterable[Widget]:
        """What stands between the text and the buttons."""
        return ()

    def compose_buttons(self) -> Iterable[Widget]:
        """The buttons, Cancel first."""
        yield DialogButton("Cancel", "", id=CANCEL_ID)

    def on_mount(self) -> None:
        """Hold the key that opened it; what was said before it is not to hide what is asked."""
        self.hold_last_key()
        self.app.clear_notifications()
        self.call_after_refresh(self._fit_text)

    def on_key(self, event: events.Key) -> None:
        """Keep the opening key's repeats from every button and binding."""
        if self.is_repeat(event):
            event.stop()
            event.prevent_default()

    def hold_last_key(self) -> None:
        """Ignore the key that was pressed last until another is pressed or it has been still for a moment."""
        app = cast("ActionApp", self.app)
        self._held_key, self._held_at_s = app.last_key, app.last_key_at_s

    def is_repeat(self, event: events.Key) -> bool:
        """Whether this is still the key on hold; asking counts as having seen it.

        What counts is when keys were pressed, not when a busy screen gets round to them.
        """
        if not self._held_key or event.key != self._held_key or event.time - self._held_at_s > STILL_S:
            self._held_key = ""
            return False
        self._held_at_s = event.time
        return True

    def answer(self, button: DialogButton, /) -> Result | None:
        """What pressing this button means; Cancel is dealt with."""
        raise NotImplementedError

    @on(DialogButton.Pressed)
    def _pressed(self, event: DialogButton.Pressed) -> None:
        event.stop()
        if event.button.id == CANCEL_ID:
            self.action_cancel()
        else:
            self.dismiss(self.answer(event.button))

    def action_press(self) -> None:
        """Press the button that has the focus."""
        if isinstance(self.focused, DialogButton):
            self.focused.press()

    def action_next_button(self) -> None:
        """To the next button."""
        self.focus_next()

    def action_previous_button(self) -> None:
        """To the button before."""
        self.focus_previous()

    def action_text_down(self) -> None:
        """Scroll the text down."""
        for text in self.query(".dialog-text"):
            text.scroll_page_down(animate=False)

    def action_text_up(self) -> None:
        """Scroll the text up."""
        for text in self.query(".dialog-text"):
            text.scroll_page_up(animate=False)

    def on_resize(self) -> None:
        """Share the room out anew."""
        self.call_after_refresh(self._fit_text)

    def _fit_text(self) -> None:
        """Give the text what the rest leaves of the terminal: an answer is never given to buttons out of sight."""
        for text in self.query(".dialog-text"):
            box = self.query_one(".dialog")
            rest = sum(each.outer_size.height + each.styles.margin.height for each in box.children if each != text)
            room = self.size.height * _BOX_PERCENT // 100 - box.gutter.height - rest - text.styles.margin.height
            text.styles.max_height = max(1, room)
        self.call_after_refresh(self.say_more)

    def say_more(self) -> None:
        """Say which key shows the rest of a text that does not fit."""
        is_cut = any(text.max_scroll_y > 0 for text in self.query(".dialog-text"))
        for box in self.query(".dialog"):  # none any more when it was answered before the screen was drawn
            box.border_subtitle = Content(f"pgdn more · {self.keys_line}" if is_cut else self.keys_line)

    @property
    def keys_line(self) -> str:
        """What the bottom line says about the keys."""
        return self._keys

    def action_cancel(self) -> None:
        """Close without doing anything."""
        self.dismiss(None)
