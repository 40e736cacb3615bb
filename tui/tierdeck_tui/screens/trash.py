"""What lies in the trash of a session, over the whole screen: to put some of it back, or to empty it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import on
from textual.widget import Widget
from textual.widgets import Static

from tierdeck.checkpoint.folder import Trashed
from tierdeck.times import now_ms
from tierdeck_tui.screens.dialog import Dialog
from tierdeck_tui.view.checkpoint.prune import trash_words, trashed_line
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.widgets.dialog_button import DialogButton
from tierdeck_tui.widgets.line_list import LineList

_PUT_BACK, _EMPTY = "put back", "empty"


@dataclass(frozen=True, slots=True)
class TrashWish:
    """What is to be done: put these files back, or with none of them empty the trash."""

    files: tuple[str, ...]


class TrashDialog(Dialog[TrashWish]):
    """Lists the trash, the newest first. The focus begins on the list; nothing is done but by a button.

    Args:
        can_change: whether anything can be done about it; else it is only looked at.
    """

    CSS_PATH = "form.tcss"
    AUTO_FOCUS = "#trash"

    def __init__(self, session_id: str, trashed: Sequence[Trashed], *, can_change: bool) -> None:
        keys = "space mark · tab to the buttons · esc back" if trashed and can_change else "esc back"
        super().__init__(f"Trash of {safe(session_id)}", "", keys=keys)
        self.add_class("-full")
        self._trashed = sorted(trashed, key=lambda each: each.sequence, reverse=True)
        self._can_change = can_change and bool(trashed)

    def compose_question(self) -> Iterable[Widget]:
        """How much it is, then a row for each."""
        yield Static(trash_words(self._trashed), markup=False, id="trash-total")
        yield LineList(id="trash")

    def compose_buttons(self) -> Iterable[Widget]:
        """Back, and what can be done."""
        yield DialogButton("Back", "", id="cancel")
        if self._can_change:
            yield DialogButton("Put back", _PUT_BACK, id="put-back")
            yield DialogButton("Empty…", _EMPTY, id="empty")

    def on_mount(self) -> None:
        """List it."""
        rows = self.query_one("#trash", LineList)
        rows.show_empty([line(Piece("Nothing was cleared away here: X prunes a session.", "muted"))])
        keys = [each.path.name for each in self._trashed]
        rows.show(keys, self._paint, markable=frozenset(keys) if self._can_change else frozenset())

    def answer(self, button: DialogButton, /) -> TrashWish:
        """The marked files, or the one under the cursor; none when it is to be emptied."""
        if button.value == _EMPTY:
            return TrashWish(())
        rows = self.query_one("#trash", LineList)
        chosen = rows.marked or (rows.cursor_key,)
        # The oldest first: of two of one name the one that was last there is put back last, and refused.
        return TrashWish(tuple(each.file for each in reversed(self._trashed) if each.path.name in chosen))

    @on(LineList.Opened, "#trash")
    def _opened(self) -> None:
        if self._can_change:
            self.query_one("#put-back", DialogButton).focus()
            self.hold_last_key()  # enter: held down, it would go on to press

    @on(LineList.Marked, "#trash")
    @on(LineList.Highlighted, "#trash")
    def _name_button(self) -> None:
        if self._can_change:
            rows, button = self.query_one("#trash", LineList), self.query_one("#put-back", DialogButton)
            number = next((each.sequence for each in self._trashed if each.path.name == rows.cursor_key), 0)
            button.label = f"Put {len(rows.marked)} back" if rows.marked else f"Put {number} back"
            button.refresh(layout=True)

    def _paint(self, number: int, cells: int) -> Line:
        return trashed_line(self._trashed[number], now_ms(), cells)
