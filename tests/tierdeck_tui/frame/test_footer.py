from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.settled import settled, until
from tests.tierdeck_tui.test_app import screen_text
from tierdeck_tui.actions import BY_ID
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.widgets.footer import GAP_CELLS, ActionFooter, FooterItem, fitted


def _footer(app: TierdeckApp) -> ActionFooter:
    return app.screen.query_one(ActionFooter)


def _cells(items: Iterable[FooterItem]) -> int:
    widths = [item.cells for item in items]
    return sum(widths) + GAP_CELLS * max(len(widths) - 1, 0)


_items = st.builds(
    FooterItem,
    st.sampled_from(["help", "quit", "reload", "zoom"]),
    st.text("abc^", min_size=1, max_size=5),
    st.text("abc", min_size=1, max_size=12),
    st.integers(1, 99),
)


@given(st.lists(_items, unique_by=lambda item: item.id), st.integers(0, 120))
def test_what_is_shown_fits_and_keeps_the_order_of_rank(items: list[FooterItem], cells: int) -> None:
    shown = fitted(items, cells)
    assert _cells(shown) <= cells
    before_help = [item for item in shown if item.id != "help"]
    assert before_help == sorted(before_help, key=lambda item: item.rank)
    if any(item.id == "help" and item.cells <= cells for item in items):
        assert shown[-1].id == "help"


@pytest.mark.case("T20")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 16), (120, 32), (50, 12)])
async def test_the_footer_fits_on_every_screen_and_focus(
    make_app: MakeApp, small_store: Path, width: int, height: int
) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(width, height)) as pilot:
        seen: set[str] = set()
        for mode in ("1", "4"):
            await pilot.press(mode)
            for _ in range(8):
                await pilot.pause()
                footer = _footer(app)
                assert _cells(footer.items()) <= footer.content_size.width
                assert footer.render().cell_length <= width - 2
                seen |= {item.id for item in footer.items()}
                await pilot.press("tab")
                if app.current_mode == "search" and app.focused is not None and app.focused.id == "query":
                    await pilot.press("escape")
        assert {"quit", "help"} <= seen


async def test_while_a_text_box_has_the_focus_only_keys_that_act_there_are_shown(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("slash")
        await pilot.pause()
        printable = [item.key for item in _footer(app).items() if len(item.key) == 1]
        await pilot.press("q")
        assert app.is_running
        assert "q" not in printable
        assert "?" not in printable


async def test_an_action_that_writes_is_grey_where_the_store_is_read_only(
    make_app: MakeApp, small_store: Path
) -> None:
    for read_only in (True, False):
        app = make_app(small_store, read_only=read_only)
        async with app.run_test(size=(200, 24)) as pilot:
            await pilot.pause(0.1)
            writing = [item for item in _footer(app).items() if BY_ID[item.id].writes]
            assert writing
            assert {item.is_grey for item in writing} == {read_only}
            assert not any(item.is_grey for item in _footer(app).items() if not BY_ID[item.id].writes)


async def test_a_click_on_an_item_does_what_its_key_does(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4")
        await pilot.pause()
        at = _footer(app).render().plain.index("? more")
        await pilot.click(ActionFooter, offset=(at + 3, 0))
        await pilot.pause()
        assert type(app.screen).__name__ == "HelpScreen"


@pytest.mark.parametrize("key", ["e", "A", "y", "f", "question_mark", "ctrl+p"])
async def test_under_a_dialog_no_key_of_the_screen_is_shown(make_app: MakeApp, small_store: Path, key: str) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "? more" in screen_text(app))
        await settled(pilot, pause_s=0.3)
        screen, before = app.screen, screen_text(app).splitlines()[-1]
        await pilot.press(key)
        await until(pilot, lambda: app.screen is not screen and "? more" not in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen and screen_text(app).splitlines()[-1] == before)
