"""All keys, made from the action table."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from tierdeck_tui.actions import Action, bindings_for, grouped, keys_of
from tierdeck_tui.keys import key_text

INDENT = "  "
GAP = "  "
ABOUT_IDS = "At the right its name under [console.keymap] in the settings file."
# Beside names most sentences take two lines then, and no more; an 80 columns terminal leaves this much.
_MIN_TEXT_CELLS = 34


class HelpScreen(ModalScreen[None]):
    """A scrolling list of all actions by group; escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("dialog"))

    def __init__(self, keymap: Mapping[str, str], *, is_read_only: bool) -> None:
        super().__init__()
        self._keymap = keymap
        self._is_read_only = is_read_only

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = "Keys"
            box.border_subtitle = "↑ ↓ scroll · esc close"
            yield KeyTable(self._keymap, is_read_only=self._is_read_only)

    def action_cancel(self) -> None:
        """Close."""
        self.dismiss(None)


class KeyTable(Widget):
    """Groups of actions: keys, what they do, wrapped within its column, and, where there is room, their ids."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--group", "keys--key", "keys--id"}

    def __init__(self, keymap: Mapping[str, str], *, is_read_only: bool) -> None:
        super().__init__()
        self._keymap = keymap
        self._is_read_only = is_read_only

    def render(self) -> Content:
        """The table for the width that there is."""
        every = [action for _, actions in grouped() for action in actions]
        key_cells = max(cell_len(self._keys(action)) for action in every)
        text_cells = self.content_size.width - len(INDENT) - key_cells - len(GAP)
        beside_ids = text_cells - len(GAP) - max(len(action.id) for action in every)
        shows_ids = beside_ids >= _MIN_TEXT_CELLS
        rows: list[Content] = [Content(""), self._muted(ABOUT_IDS)] if shows_ids else []
        for group, actions in grouped():
            rows += [Content(""), Content.styled(group, self.get_visual_style("keys--group"))]
            for action in actions:
                cells = beside_ids if shows_ids else max(text_cells, 12)
                rows += self._rows(action, key_cells, cells, shows_id=shows_ids)
        return Content("\n").join(rows[1:])

    def _rows(self, action: Action, key_cells: int, text_cells: int, *, shows_id: bool) -> list[Content]:
        keys = self._keys(action)
        note = " (read-only)" if action.writes and self._is_read_only else ""
        first, *more = textwrap.wrap(action.tooltip + note, text_cells)
        gap = " " * (key_cells - cell_len(keys)) + GAP
        head = Content.assemble(INDENT, (keys, self.get_visual_style("keys--key")), gap, first)
        if shows_id:
            head = Content.assemble(head, " " * (text_cells - len(first)) + GAP, self._muted(action.id))
        return [head, *(Content(" " * (len(INDENT) + key_cells + len(GAP)) + text) for text in more)]

    def _muted(self, text: str) -> Content:
        return Content.styled(text, self.get_visual_style("keys--id"))

    def _keys(self, action: Action) -> str:
        return " ".join(key_text(key) for key in keys_of(action, self._keymap))
