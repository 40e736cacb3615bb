"""What a screen paints when the focus moves: what looks different with it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import pytest
from textual.geometry import Region
from textual.widget import Widget

from tests.tierdeck_tui.widgets.host import Host
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.widgets.text_view import TextView


class TwoTexts(FrameScreen):
    """Two texts to go to; counts how often all that it shows was to be painted."""

    painted_whole = 0

    def compose_body(self) -> Iterable[Widget]:
        yield TextView(id="one")
        yield TextView(id="two")

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        self.painted_whole += repaint and not regions
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


async def test_a_move_of_the_focus_does_not_paint_the_whole_screen() -> None:
    app = Host(Widget())
    async with app.run_test(size=(80, 20)) as pilot:
        screen = TwoTexts()
        await app.push_screen(screen)
        screen.query_one("#one").focus()
        await pilot.pause()
        before = screen.painted_whole
        assert before > 0
        screen.query_one("#two").focus()
        await pilot.pause()
        assert screen.focused is screen.query_one("#two")
        assert screen.painted_whole == before


class Wide(FrameScreen):
    """A screen that is laid out otherwise from 100 cells on."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Textual types it


@pytest.mark.parametrize(("cells", "name"), [(60, "-narrow"), (99, "-narrow"), (100, "-wide"), (240, "-wide")])
async def test_a_screen_is_laid_out_for_its_width_before_it_is_there(cells: int, name: str) -> None:
    app = Host(Widget())
    async with app.run_test(size=(cells, 20)) as pilot:
        screen = Wide()
        screen.fit_width(cells)
        early = set(screen.classes)
        await app.push_screen(screen)
        await pilot.pause()
        assert early == set(screen.classes) == {name}
