"""One line below every screen: the keys that act at this moment, as many as fit.

The stock footer overflows at 80 columns with no mark (its rightmost keys are simply not there). This one keeps the
sum of its items under the width, drops the least important first, and always ends in `? more`. Under a dialog it is
empty: the screen's keys do nothing there, and the dialog prints its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from textual import events
from textual.app import ScreenStackError
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from tierdeck_tui.action_app import ActionApp
from tierdeck_tui.actions import BY_ID
from tierdeck_tui.keys import key_text
from tierdeck_tui.widgets.component_style import component_style

GAP_CELLS = 2
LAST_ID = "help"


@dataclass(frozen=True, slots=True)
class FooterItem:
    """One key and what it does; `is_grey` when it would be refused, for the store is read-only."""

    id: str
    key: str
    label: str
    rank: int
    is_grey: bool = False

    @property
    def cells(self) -> int:
        """The item's width; keys and labels are our own narrow text."""
        return len(self.key) + 1 + len(self.label)


class ActionFooter(Widget):
    """The footer. Clicking an item does what its key does."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"footer--key", "footer--label", "footer--grey"}

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._follow)

    def render(self) -> Content:
        """The line of items that fit."""
        return Content(" " * GAP_CELLS).join(self._styled(item) for item in self.items())

    def items(self) -> list[FooterItem]:
        """What is shown at this moment, in order; nothing while a dialog lies over the screen."""
        if self.screen is not self.app.screen:
            return []
        return fitted(self._live_items(), self.content_size.width)

    async def on_click(self, event: events.Click) -> None:
        """A click on an item does what its key does."""
        left = 0
        x = event.x - (self.region.width - self.content_size.width) // 2
        for item in self.items():
            if left <= x < left + item.cells:
                await cast("ActionApp", self.app).run_by_id(item.id)
                return
            left += item.cells + GAP_CELLS

    def _live_items(self) -> Iterable[FooterItem]:
        app = cast("ActionApp", self.app)
        try:
            bindings = self.screen.active_bindings
        except ScreenStackError:  # while the app closes
            return
        seen: set[str] = set()
        for active in bindings.values():
            action = BY_ID.get(active.binding.id or "")
            if action is not None and action.rank and action.id not in seen:
                seen.add(action.id)
                is_grey = not active.enabled or (action.writes and app.is_read_only)
                yield FooterItem(action.id, key_text(active.binding.key), action.label, action.rank, is_grey)

    def _styled(self, item: FooterItem) -> Content:
        if item.is_grey:
            return Content.styled(f"{item.key} {item.label}", component_style(self, "footer--grey"))
        return Content.assemble(
            (item.key, component_style(self, "footer--key")),
            " ",
            (item.label, component_style(self, "footer--label")),
        )

    def _follow(self, _: Screen[object]) -> None:
        self.refresh()


def fitted(items: Iterable[FooterItem], cells: int) -> list[FooterItem]:
    """The items that fit into `cells`, by rank, `? more` last; the least important are left out."""
    ranked: Sequence[FooterItem] = sorted(items, key=lambda item: item.rank)
    last = [item for item in ranked if item.id == LAST_ID]
    room = cells - sum(item.cells for item in last)
    shown: list[FooterItem] = []
    for item in ranked:
        if item.id != LAST_ID and item.cells + GAP_CELLS <= room:
            room -= item.cells + GAP_CELLS
            shown.append(item)
    return shown + [item for item in last if item.cells <= cells]
