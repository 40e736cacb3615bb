"""The Checkpoints screen's tree, and the pane of the row under the cursor."""

from __future__ import annotations

from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal

from tierdeck_tui.widgets.checkpoint_pane import CheckpointPane
from tierdeck_tui.widgets.line_list import LineList


class CheckpointBoard(Horizontal):
    """Tree and pane, and which of them has the room."""

    def compose(self) -> ComposeResult:
        """The tree, then the pane."""
        yield LineList(id="tree")
        yield CheckpointPane(id="checkpoint-pane")

    @property
    def tree_list(self) -> LineList:
        """The tree."""
        return self.query_one("#tree", LineList)

    @property
    def pane(self) -> CheckpointPane:
        """The pane."""
        return self.query_one("#checkpoint-pane", CheckpointPane)

    def open_pane(self) -> None:
        """Go to the pane, which takes the tree's place where both do not fit."""
        if self.screen.has_class("-one-pane"):
            self.zoom("pane")
        self.pane.focus_inside()

    def next_pane(self) -> None:
        """Tree, pane, and round again; only what can be seen."""
        if self.tree_list.has_focus and self.pane.is_on_screen:
            self.pane.focus_inside()
        elif self.tree_list.is_on_screen:
            self.tree_list.focus()

    def toggle_zoom(self) -> None:
        """Give the room of both to the one with the focus, and back."""
        self.zoom(None if self._is_zoomed else "pane" if self.pane.has_its_focus else "tree")

    def zoom(self, what: Literal["pane", "tree"] | None) -> None:
        """Show one only; None shows what fits."""
        self.set_class(what == "pane", "-zoom-pane")
        self.set_class(what == "tree", "-zoom-tree")

    def back(self) -> None:
        """One step back: from a value to the variables, to the tree, then the marks away."""
        if self.pane.has_its_focus and self.pane.close_variable():
            return
        if not self.tree_list.has_focus or self._is_zoomed:
            self.zoom(None)
            self.tree_list.focus()
        elif self.tree_list.marked:
            self.tree_list.clear_marks()

    @property
    def _is_zoomed(self) -> bool:
        return self.has_class("-zoom-pane") or self.has_class("-zoom-tree")
