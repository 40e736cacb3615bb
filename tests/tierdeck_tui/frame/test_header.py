from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tierdeck_tui.conftest import MakeApp, finished, keyword_settings
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.widgets.header import StatusHeader


def header_text(app: TierdeckApp) -> str:
    return app.screen.query_one(StatusHeader).render().plain


async def test_every_mode_shows_the_store_its_size_and_what_may_be_done(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await finished(app, "meaning")
        await pilot.pause()
        for key in ("1", "4"):
            await pilot.press(key)
            text = header_text(app)
            assert "small.db" in text
            assert "20" in text
            assert " rw" in text
            assert "keyword only" in text
            assert len(text) <= 80


async def test_a_store_that_is_not_ours_says_so(make_app: MakeApp, family_store_path: Path) -> None:
    app = make_app(family_store_path)
    async with app.run_test(size=(120, 32)) as pilot:
        await pilot.pause()
        assert "ro: not adopted" in header_text(app)


async def test_a_store_opened_for_reading_says_ro(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store, read_only=True)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "  ro" in header_text(app)


async def test_a_badge_counts_what_waits_in_a_mode(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        app.status = replace(app.status, badges={"overview": 3})
        await pilot.pause()
        assert "4 Overview (3)" in header_text(app)


@pytest.mark.case("U04")
async def test_progress_with_brackets_is_shown_literally(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(160, 24)) as pilot:
        await pilot.pause()
        await finished(app, "meaning", "index")
        await pilot.pause()
        app.status = replace(
            app.status, progress="embedding [data: /m?id=1-] [/x]", degraded="keyword only: [/x] [b"
        )
        await pilot.pause()
        assert "embedding [data: /m?id=1-] [/x]" in header_text(app)
        assert "keyword only: [/x] [b" in header_text(app)


async def test_a_click_on_a_title_goes_to_its_mode(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.click(StatusHeader, offset=(header_text(app).index("Overview") + 2, 0))
        assert app.current_mode == "overview"
        await pilot.click(StatusHeader, offset=(2, 0))
        assert app.current_mode == "search"


@pytest.mark.parametrize("width", [50, 60, 72, 80, 120])
async def test_the_header_is_one_line_at_any_width(make_app: MakeApp, small_store: Path, width: int) -> None:
    app = make_app(small_store, keyword_settings())
    async with app.run_test(size=(width, 24)) as pilot:
        await pilot.pause()
        assert len(header_text(app)) <= width
        assert app.screen.query_one(StatusHeader).size.height == 1
