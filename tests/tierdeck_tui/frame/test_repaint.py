"""What a screen paints when the focus moves: what looks different with it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget

from tests.tierdeck_tui.widgets.host import Host
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.view.line import line
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.text_view import TextView


class CountedBar(LineBar):
    """A line that counts how often it was painted."""

    painted = 0

    def render_lines(self, crop: Region) -> list[Strip]:
        self.painted += 1
        return super().render_lines(crop)


class TwoTexts(FrameScreen):
    """Two texts to go to, and a line that no focus changes."""

    def compose_body(self) -> Iterable[Widget]:
        yield CountedBar(id="bar")  # above both: Textual looks at all that lies between two that changed
        yield TextView(id="one")
        yield TextView(id="two")


async def test_a_move_of_the_focus_does_not_paint_what_stays_as_it_is() -> None:
    app = Host(Widget())
    async with app.run_test(size=(80, 20)) as pilot:
        screen = TwoTexts()
        await app.push_screen(screen)
        bar = screen.query_one(CountedBar)
        bar.show(line("said"))
        screen.query_one("#one").focus()
        before = await _at_rest(pilot, bar)
        assert before > 0
        screen.query_one("#two").focus()
        assert await _at_rest(pilot, bar) == before
        assert screen.focused is screen.query_one("#two")


async def _at_rest(pilot: Pilot[None], bar: CountedBar) -> int:
    """How often the bar was painted when that has not changed for a while."""
    seen = -1
    while bar.painted != seen:
        seen = bar.painted
        await pilot.pause(0.1)
    return seen


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
