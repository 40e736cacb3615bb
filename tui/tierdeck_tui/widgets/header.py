"""One line above every screen: the modes with what waits in them, and the store with what may be done to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from textual import events
from textual.content import Content
from textual.widget import Widget

from tierdeck_tui.action_app import ActionApp
from tierdeck_tui.status import GAP_CELLS
from tierdeck_tui.widgets.component_style import component_style

# What the store's name, its memories, access and what is degraded usually take; and the least without the number.
STORE_CELLS, TIGHT_STORE_CELLS = 34, 22


class StatusHeader(Widget):
    """The header. It shows the app's `status` and the current mode, and follows both."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "header--here",
        "header--mode",
        "header--name",
        "header--memories",
        "header--access",
        "header--degraded",
        "header--progress",
    }

    def on_mount(self) -> None:
        self.watch(self.app, "status", self._follow, init=False)

    def render(self) -> Content:
        """The line, cut to the width: modes on the left, the store on the right."""
        app = cast("ActionApp", self.app)
        modes = Content("").join(title for _, title in self._modes(app))
        room = self.size.width - modes.cell_length - GAP_CELLS
        styled = [
            Content.styled(part.text, component_style(self, f"header--{part.role}"))
            for part in app.status.parts(room)
        ]
        right = Content(" " * GAP_CELLS).join(styled)
        gap = max(1, self.size.width - modes.cell_length - right.cell_length - 1)
        return Content.assemble(modes, " " * gap, right)

    async def on_click(self, event: events.Click) -> None:
        """A click on a mode's title goes there."""
        app = cast("ActionApp", self.app)
        left = 0
        for name, title in self._modes(app):
            if left <= event.x < left + title.cell_length:
                await app.run_by_id(f"mode_{name}")
                return
            left += title.cell_length

    def _modes(self, app: ActionApp) -> list[tuple[str, Content]]:
        """The current mode by its title; the others too, in a narrower terminal in brief, else by their digits."""
        modes = app.status.modes
        whole = self._titled(app, [mode.title for mode in modes])
        if _cells(whole) + STORE_CELLS <= self.size.width:
            return whole
        brief = self._titled(app, [mode.brief or mode.title for mode in modes])
        if _cells(brief) + TIGHT_STORE_CELLS <= self.size.width:
            return brief
        return self._titled(app, ["" for _ in modes])

    def _titled(self, app: ActionApp, titles: Sequence[str]) -> list[tuple[str, Content]]:
        found = []
        for mode, other in zip(app.status.modes, titles, strict=True):
            title = mode.title if mode.name == app.current_mode else other
            waiting = app.status.badges.get(mode.name, 0)
            badge = f"({waiting}) " if waiting else ""
            style = component_style(self, "header--here" if mode.name == app.current_mode else "header--mode")
            text = f" {mode.digit} {title} {badge}" if title else f" {mode.digit} {badge}"
            found.append((mode.name, Content.styled(text, style)))
        return found

    def _follow(self) -> None:
        self.refresh()


def _cells(titles: Sequence[tuple[str, Content]]) -> int:
    return sum(title.cell_length for _, title in titles)
