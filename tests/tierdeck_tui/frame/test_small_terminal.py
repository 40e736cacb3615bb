from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Size

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.test_app import screen_text
from tierdeck_tui.screens.too_small import TooSmallScreen, is_too_small


@pytest.mark.parametrize(
    ("width", "height", "too_small"),
    [(50, 12, False), (49, 12, True), (50, 11, True), (200, 5, True), (20, 90, True)],
)
def test_fifty_by_twelve_is_the_least(width: int, height: int, too_small: bool) -> None:
    assert is_too_small(Size(width, height)) is too_small


@pytest.mark.case("T21")
async def test_below_the_least_one_line_says_so_and_it_goes_when_the_terminal_grows(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        before = app.screen
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert isinstance(app.screen, TooSmallScreen)
        assert [line.strip() for line in screen_text(app).splitlines() if line.strip()] == [
            "terminal too small: 40x10, needs 50x12"
        ]
        await pilot.press("4", "slash", "x")
        assert app.current_mode == "search"
        await pilot.resize_terminal(30, 8)
        await pilot.pause()
        assert "30x8" in screen_text(app)
        await pilot.resize_terminal(60, 16)
        await pilot.pause()
        assert app.screen is before


@pytest.mark.case("T21")
async def test_a_terminal_too_small_from_the_start_recovers_too(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(30, 6)) as pilot:
        await pilot.pause()
        assert "too small" in screen_text(app)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "newest first" in screen_text(app)


async def test_an_open_dialog_comes_back_too(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4", "question_mark")
        await pilot.resize_terminal(30, 6)
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert type(app.screen).__name__ == "HelpScreen"
        await pilot.press("escape")
        assert app.current_mode == "overview"


async def test_q_leaves_a_terminal_that_is_too_small(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(30, 6)) as pilot:
        await pilot.press("q")
        await pilot.pause()
        assert not app.is_running
