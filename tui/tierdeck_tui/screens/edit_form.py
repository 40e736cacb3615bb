"""The form that edits a memory. It gives back what is changed and why, and writes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tierdeck.model import Node, NodeChanges, NodeType
from tierdeck.secret_scan import has_secret
from tierdeck_tui.actions import bindings_for
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.reason import ReasonDialog
from tierdeck_tui.view.change_preview import edit_preview
from tierdeck_tui.view.format import count
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.widgets.option_row import OptionRow
from tierdeck_tui.widgets.safe_input import SafeInput
from tierdeck_tui.widgets.safe_text_area import SafeTextArea

# A TextArea lays its text out on the event loop: 100 kB took it 10 ms, 1 MB 0.14 s.
MAX_EDIT_CHARS = 200_000
_LOCKED_SHOWN_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to be changed and why; `reason` may be empty."""

    changes: NodeChanges
    reason: str


class EditForm(ModalScreen[Edit | None]):
    """A memory's text, type, subtype, confidence and provenance. None is the answer of who cancels.

    It shows what would be changed and asks why; who cancels that question is back in the form, as it was typed.

    A text that can't be shown as it is (control or hidden characters, masked secrets, a very long one) can't be
    edited here, since saving would replace it by what was shown; the form says so.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("form"))
    AUTO_FOCUS = "#edit-type"
    CSS_PATH = "form.tcss"

    def __init__(self, node: Node, *, is_revealed: bool) -> None:
        super().__init__()
        self._node = node
        self._locked = _why_locked(node.content, is_revealed=is_revealed)
        self._before: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """The type, the text, below it the other fields."""
        node = self._node
        text = visible(node.content[:_LOCKED_SHOWN_CHARS]) if self._locked else node.content
        if self._locked and has_secret(node.content):
            text = ""
        with Vertical(classes="form -tall") as box:
            box.border_title = Content(f"Edit {visible(node.short_id, one_line=True)}")
            box.border_subtitle = Content("tab next · ctrl+s go on · esc cancel")
            # First of all a row that takes no letters: the key that opened the form may still be held down.
            yield from self._field("type", OptionRow(list(NodeType), {node.type}, is_single=True, id="edit-type"))
            yield SafeTextArea(
                text, read_only=bool(self._locked), tab_behavior="focus", compact=True, id="edit-text"
            )
            yield from self._field("subtype", SafeInput(node.subtype or "", compact=True, id="edit-subtype"))
            yield from self._field(
                "confidence", SafeInput(repr(node.confidence), compact=True, id="edit-confidence")
            )
            yield from self._field(
                "provenance", SafeInput(node.provenance or "", compact=True, id="edit-provenance")
            )
            yield Static(self._locked, markup=False, classes="form-note", id="edit-note")

    def on_mount(self) -> None:
        """Remember what every field begins with."""
        self._before = self._typed()

    def action_submit_form(self) -> None:
        """Show what would be changed, and ask why."""
        changes = self._changes()
        if changes is None:
            return
        preview = edit_preview(self._node, changes)
        if not preview:
            self.notify("nothing was changed")
            self.dismiss(None)
            return

        def save(reason: str | None) -> None:
            if reason is not None:
                self.dismiss(Edit(changes, reason))

        title = f"Edit {self._node.short_id}"
        self.app.push_screen(ReasonDialog(title, preview, confirm="Save", is_mandatory=False), save)

    def action_leave_form(self) -> None:
        """Close without doing anything; ask before something typed is lost."""
        if self._typed() == self._before:
            self.dismiss(None)
            return

        def leave(is_sure: bool | None) -> None:
            if is_sure:
                self.dismiss(None)

        text = "What you changed in the form is not saved. Cancel goes back to it."
        self.app.push_screen(ConfirmDialog(f"Leave {self._node.short_id}", text, confirm="Drop it"), leave)

    def _changes(self) -> NodeChanges | None:
        """What the form asks for; None, with the reason shown, while that can't be."""
        try:
            confidence = float(self._value("edit-confidence"))
        except ValueError:
            self._say(f"confidence: {self._value('edit-confidence')} is not a number from 0 to 1")
            return None
        if not 0 <= confidence <= 1:
            self._say(f"confidence: {confidence:g} is outside 0 to 1")
            return None
        text = None if self._locked else self.query_one("#edit-text", SafeTextArea).text
        node = self._node
        return NodeChanges(
            content=text if text != node.content else None,
            type=NodeType(self.query_one("#edit-type", OptionRow).chosen[0]),
            subtype=self._changed("edit-subtype", node.subtype),
            confidence=confidence,
            provenance=self._changed("edit-provenance", node.provenance),
        )

    def _typed(self) -> tuple[str, ...]:
        boxes = (box.value for box in self.query(SafeInput))
        kind, text = self.query_one(OptionRow).chosen[0], self.query_one(SafeTextArea).text
        return (kind, text, *boxes)

    def _field(self, label: str, widget: OptionRow | SafeInput) -> ComposeResult:
        with Horizontal(classes="form-field"):
            yield Static(label, markup=False, classes="form-label")
            yield widget

    def _value(self, id: str) -> str:
        return self.query_one(f"#{id}", SafeInput).value.strip()

    def _changed(self, id: str, old: str | None) -> str | None:
        """What stands in a box, None when that is what it began with: a box shows some characters as signs."""
        value = self._value(id)
        return None if value == visible(old or "", one_line=True).strip() else value

    def _say(self, note: str) -> None:
        self.query_one("#edit-note", Static).update(Content(visible(note)))


def _why_locked(text: str, *, is_revealed: bool) -> str:
    """Why the text can't be edited here, "" when it can."""
    if len(text) > MAX_EDIT_CHARS:
        return f"The text has {count(len(text))} characters: `tierdeck edit` takes it from a file."
    if visible(text) != text:
        return "The text holds control or hidden characters: `tierdeck edit` changes it without loss."
    if not is_revealed and has_secret(text):
        return "The text holds what looks like a secret: m shows it, and then it can be edited."
    return ""
