"""The Checkpoints screen's tree, and the pane of the row under the cursor."""

from __future__ import annotations

from textual.app import ComposeResult

from tierdeck_tui.widgets.checkpoint_pane import CheckpointPane
from tierdeck_tui.widgets.line_list import LineList
from tierdeck_tui.widgets.two_panes import TwoPanes


class CheckpointBoard(TwoPanes):
    """Tree and pane, and which of them has the room."""

    def compose(self) -> ComposeResult:
        """The tree, then the pane."""
        yield LineList(id="tree")
        yield CheckpointPane(id="checkpoint-pane")

    @property
    def first(self) -> LineList:
        """The tree."""
        return self.tree_list

    @property
    def tree_list(self) -> LineList:
        """The tree."""
        return self.query_one("#tree", LineList)

    @property
    def pane(self) -> CheckpointPane:
        """The pane."""
        return self.query_one("#checkpoint-pane", CheckpointPane)

    @property
    def has_row(self) -> bool:
        """Whether the tree has a row."""
        return self.tree_list.cursor_key is not None

    @property
    def is_in_pane(self) -> bool:
        """Whether the focus is in the pane."""
        return self.pane.has_its_focus

    def focus_pane(self) -> None:
        """Put the focus into the pane."""
        self.pane.focus_inside()

    def go_to_section(self, step: int) -> None:
        """The next section of the checkpoint, or the one before."""
        self.pane.go_to_section(step)

    def back(self) -> None:
        """One step back: from a value to the variables, to the tree, then the marks away."""
        if self.is_in_pane and self.pane.close_variable():
            return
        if not self.tree_list.has_focus or self.is_zoomed:
            self.zoom(None)
            self.tree_list.focus()
        elif self.tree_list.marked:
            self.tree_list.clear_marks()
