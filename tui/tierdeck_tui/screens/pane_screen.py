"""A screen of a list and a pane: the keys that lead from one to the other."""

from __future__ import annotations

from typing import Protocol

from tierdeck_tui.screens.frame import FrameScreen


class Panes(Protocol):
    """What shows the list and the pane."""

    def next_pane(self) -> None:
        """To the other one."""

    def toggle_zoom(self) -> None:
        """Give the room of both to the one with the focus, and back."""

    def go_to_section(self, step: int) -> None:
        """To the pane's next section (1), or the one before (-1)."""


class PaneScreen(FrameScreen):
    """Such a screen. Subclasses say what shows them."""

    @property
    def panes(self) -> Panes:
        """What shows the list and the pane."""
        raise NotImplementedError

    def action_next_pane(self) -> None:
        """List, pane, and round again."""
        self.panes.next_pane()

    def action_zoom(self) -> None:
        """Give the room of both to the one with the focus, and back."""
        self.panes.toggle_zoom()

    def action_next_section(self) -> None:
        """The next section of the pane."""
        self.panes.go_to_section(1)

    def action_previous_section(self) -> None:
        """The section before."""
        self.panes.go_to_section(-1)
