"""The Promotions screen's lists, one at a time, and the pane of the row under the cursor."""

from __future__ import annotations

from typing import Literal

from textual import on
from textual.app import ComposeResult

from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.promotion_items import Item
from tierdeck_tui.widgets.promotion_pane import PromotionPane
from tierdeck_tui.widgets.row_list import RowList
from tierdeck_tui.widgets.two_panes import TwoPanes

Tab = Literal["candidates", "near", "log", "runs", "held"]
TABS: tuple[Tab, ...] = ("candidates", "near", "log", "runs", "held")
# Told from their newest row on: whoever stands there wants to see what is new.
_NEWEST_FIRST = frozenset({"log", "runs"})


class PromotionBoard(TwoPanes):
    """Five lists, each with its own cursor, marks and place. `tab` names the one that is shown."""

    def __init__(self, deck: Console, *, id: str) -> None:
        super().__init__(id=id)
        self._deck = deck
        self._stale: set[Tab] = set()
        self.tab: Tab = "candidates"

    def compose(self) -> ComposeResult:
        """The lists, then the pane."""
        for tab in TABS:
            yield RowList(id=tab, stays_first=tab in _NEWEST_FIRST)
        yield PromotionPane(self._deck, id="promotion-pane")

    @property
    def first(self) -> RowList:
        """The list that is shown."""
        return self.rows

    @property
    def has_row(self) -> bool:
        """Whether the list that is shown has a row."""
        return self.rows.cursor_item is not None

    @property
    def is_in_pane(self) -> bool:
        """Whether the focus is in the pane."""
        return self.pane.has_focus

    def focus_pane(self) -> None:
        """Put the focus into the pane."""
        self.pane.focus()

    @property
    def rows(self) -> RowList:
        """The list that is shown."""
        return self.list_of(self.tab)

    @property
    def pane(self) -> PromotionPane:
        """The pane."""
        return self.query_one("#promotion-pane", PromotionPane)

    @property
    def chosen(self) -> tuple[Item, ...]:
        """The marked rows of the list that is shown, else the one under the cursor."""
        cursor = self.rows.cursor_item
        return self.rows.marked or (() if cursor is None else (cursor,))

    def list_of(self, tab: Tab) -> RowList:
        """The list of a tab."""
        return self.query_one(f"#{tab}", RowList)

    def turn_to(self, tab: Tab) -> None:
        """Show a tab's list, read again where the store has changed meanwhile."""
        self.tab = tab
        for name in TABS:
            self.list_of(name).set_class(name == tab, "-here")
        self.zoom(None)
        if tab in self._stale:
            self.rows.reload()
        self._stale.discard(tab)
        self.pane.show_item(self.rows.cursor_item)
        self.rows.focus()

    def reload(self) -> None:
        """Read what is shown again; the other lists when they are shown."""
        self._stale = {tab for tab in TABS if tab != self.tab and self.list_of(tab).is_filled}
        self.rows.reload()
        self.pane.reload()

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        for tab in TABS:
            self.list_of(tab).set_reveal(reveal)
        self.pane.set_reveal(reveal)

    def go_to_section(self, step: int) -> None:
        """The next section of the pane, or the one before."""
        self.pane.go_to_section(step)

    def back(self) -> bool:
        """One step back: to the list, then the marks away; False when there is none left."""
        if not self.rows.has_focus or self.is_zoomed:
            self.zoom(None)
            self.rows.focus()
        elif self.rows.marked:
            self.rows.clear_marks()
        else:
            return False
        return True

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        if event.row_list is self.rows:
            self.pane.show_item(event.item)
