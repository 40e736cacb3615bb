"""A list and the pane of the row under its cursor: side by side, or one in the other's place."""

from __future__ import annotations

from typing import Literal

from textual.containers import Horizontal
from textual.widget import Widget


class TwoPanes(Horizontal):
    """Both where the screen has the class `-two-panes`, else the list, and the pane in its place.

    Subclasses say which widgets these are. The class `-zoom-pane` leaves the pane alone, `-zoom-list` the list.
    """

    @property
    def first(self) -> Widget:
        """The list."""
        raise NotImplementedError

    @property
    def has_row(self) -> bool:
        """Whether there is a row that the pane could be about."""
        raise NotImplementedError

    @property
    def is_in_pane(self) -> bool:
        """Whether the focus is in the pane."""
        raise NotImplementedError

    def focus_pane(self) -> None:
        """Put the focus into the pane."""
        raise NotImplementedError

    @property
    def is_pane_alone(self) -> bool:
        """Whether the pane stands in the list's place."""
        return self.has_class("-zoom-pane")

    @property
    def is_zoomed(self) -> bool:
        """Whether one of them has the room of both."""
        return self.is_pane_alone or self.has_class("-zoom-list")

    def open_pane(self) -> None:
        """Go to the pane, which takes the list's place where both do not fit."""
        if self.screen.has_class("-one-pane") or self.has_class("-zoom-list"):
            self.zoom("pane")
        self.focus_pane()

    def open_list(self) -> None:
        """Go to the list, which takes the pane's place where both do not fit."""
        if self.is_pane_alone:
            self.zoom(None)
        self.first.focus()

    def next_pane(self) -> None:
        """List, pane, and round again; where both do not fit the other one comes in sight."""
        if self.is_in_pane:
            self.open_list()
        elif self.has_row:
            self.open_pane()

    def toggle_zoom(self) -> None:
        """Give the room of both to the one with the focus, and back."""
        self.zoom(None if self.is_zoomed else "pane" if self.is_in_pane else "list")

    def zoom(self, what: Literal["pane", "list"] | None) -> None:
        """Show one only; None shows what fits."""
        self.set_class(what == "pane", "-zoom-pane")
        self.set_class(what == "list", "-zoom-list")
