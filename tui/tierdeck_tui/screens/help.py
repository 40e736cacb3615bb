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
    """Groups of actions: keys on the left, what they do on the right, wrapped within their column."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--group", "keys--key"}

    def __init__(self, keymap: Mapping[str, str], *, is_read_only: bool) -> None:
        super().__init__()
        self._keymap = keymap
        self._is_read_only = is_read_only

    def render(self) -> Content:
        """The table for the width that there is."""
        key_cells = max(cell_len(self._keys(action)) for _, actions in grouped() for action in actions)
        text_cells = max(self.content_size.width - len(INDENT) - key_cells - 2, 12)
        rows: list[Content] = []
        for group, actions in grouped():
            rows += [Content(""), Content.styled(group, self.get_visual_style("keys--group"))]
            for action in actions:
                rows += self._rows(action, key_cells, text_cells)
        return Content("\n").join(rows[1:])

    def _rows(self, action: Action, key_cells: int, text_cells: int) -> list[Content]:
        keys = self._keys(action)
        note = " (read-only)" if action.writes and self._is_read_only else ""
        first, *more = textwrap.wrap(action.tooltip + note, text_cells)
        gap = " " * (key_cells - cell_len(keys) + 2)
        head = Content.assemble(INDENT, (keys, self.get_visual_style("keys--key")), gap, first)
        return [head, *(Content(" " * (len(INDENT) + key_cells + 2) + text) for text in more)]

    def _keys(self, action: Action) -> str:
        return " ".join(key_text(key) for key in keys_of(action, self._keymap))
