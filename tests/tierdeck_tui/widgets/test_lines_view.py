"""What is painted anew, counted by the lines that are asked for: a paint beside a search costs twice its time."""

from __future__ import annotations

import pytest
from textual.strip import Strip

from tests.tierdeck_tui.view.rows import hit
from tests.tierdeck_tui.widgets.host import Host
from tierdeck_tui.themes import DARK, LIGHT
from tierdeck_tui.widgets.memory_list import MemoryList

ROWS = 12


class CountedList(MemoryList):
    """Keeps which rows were laid out anew, and which lines were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.laid_out: list[int] = []
        self.asked: list[int] = []

    def _paint(self, number: int, cells: int) -> tuple[Strip, ...]:
        self.laid_out.append(number)
        return super()._paint(number, cells)

    def render_line(self, y: int) -> Strip:
        self.asked.append(y)
        return super().render_line(y)

    def forget(self) -> None:
        """Count from here on."""
        self.laid_out.clear()
        self.asked.clear()


@pytest.fixture
def host() -> Host:
    return Host(CountedList())


def shown_in(host: Host) -> CountedList:
    assert isinstance(host.shown, CountedList)
    return host.shown


async def test_a_step_of_the_cursor_paints_the_two_rows_that_changed(host: Host) -> None:
    async with host.run_test(size=(80, 2 * ROWS)) as pilot:
        shown = shown_in(host)
        shown.show_rows([hit(f"words {n}") for n in range(ROWS)])
        await pilot.pause()
        shown.forget()
        await pilot.press("j")
        await pilot.pause()
        assert sorted(shown.laid_out) == [0, 1]
        assert set(shown.asked) == {0, 1, 2, 3}


async def test_another_focus_lays_out_the_cursors_row_only(host: Host) -> None:
    async with host.run_test(size=(80, 2 * ROWS)) as pilot:
        shown = shown_in(host)
        shown.show_rows([hit(f"words {n}") for n in range(ROWS)])
        await pilot.press("j")
        await pilot.pause()
        shown.forget()
        host.screen.set_focus(None)
        await pilot.pause()
        assert set(shown.laid_out) == {1}


async def test_nothing_is_painted_while_nothing_changes(host: Host) -> None:
    async with host.run_test(size=(80, 2 * ROWS)) as pilot:
        shown = shown_in(host)
        shown.show_rows([hit(f"words {n}") for n in range(ROWS)])
        await pilot.pause()
        shown.forget()
        await pilot.press("k")  # the cursor is on the first row already
        await pilot.pause(0.05)
        assert not shown.asked


async def test_another_theme_paints_every_row_in_its_own_colours(host: Host) -> None:
    async with host.run_test(size=(80, 2 * ROWS)) as pilot:
        shown = shown_in(host)
        shown.show_rows([hit(f"words {n}") for n in range(ROWS)])
        await pilot.pause()
        assert _colours(shown) >= {DARK.variables["text-primary"], DARK.foreground}
        host.theme = LIGHT.name
        await pilot.pause()
        assert _colours(shown) >= {LIGHT.variables["text-primary"], LIGHT.foreground}
        assert DARK.foreground not in _colours(shown)


def _colours(shown: MemoryList) -> set[str | None]:
    segments = [segment for y in range(shown.size.height) for segment in shown.render_line(y)]
    return {segment.style.color.name for segment in segments if segment.style and segment.style.color}
