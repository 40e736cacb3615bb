from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.test_app import screen_text
from tierdeck_tui.actions import ACTIONS, grouped
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.screens.help import HelpScreen, KeyTable


async def _offers(app: TierdeckApp) -> list[str]:
    assert isinstance(app.screen, CommandPalette)
    options = app.screen.query_one(OptionList)
    return [str(options.get_option_at_index(index).prompt) for index in range(options.option_count)]


async def _help_table(app: TierdeckApp, pilot: Pilot[None]) -> KeyTable:
    """The table of the help screen, once that is laid out: on a busy machine it is not when the key is handled."""
    for _ in range(2_000):
        for table in app.screen.query(KeyTable):
            if table.content_size.width:
                return table
        await pilot.pause(0.01)
    raise AssertionError("the help screen never came")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 16), (120, 32)])
async def test_the_help_screen_names_every_action_and_fits(
    make_app: MakeApp, small_store: Path, width: int, height: int
) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(width, height)) as pilot:
        await pilot.press("4", "question_mark")
        table = await _help_table(app, pilot)
        lines = table.render().plain.splitlines()
        words = " ".join(" ".join(lines).split())
        for group, actions in grouped():
            assert group in lines
            for action in actions:
                assert all(word in words for word in action.tooltip.split())
        assert max(map(len, lines)) <= table.content_size.width
        await pilot.press("escape")
        assert not isinstance(app.screen, HelpScreen)


@pytest.mark.parametrize(("width", "has_ids"), [(60, False), (80, True), (120, True)])
async def test_the_help_screen_names_the_ids_of_the_settings_file_where_there_is_room(
    make_app: MakeApp, small_store: Path, width: int, has_ids: bool
) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(width, 24)) as pilot:
        await pilot.press("4", "question_mark")
        lines = (await _help_table(app, pilot)).render().plain.splitlines()
        last_words = [line.split()[-1] for line in lines if line.strip()]
        assert all((action.id in last_words) == has_ids for action in ACTIONS if "_" in action.id)
        assert ("[console.keymap]" in lines[0]) == has_ids


async def test_the_help_screen_can_be_read_to_its_end_by_keyboard(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4", "question_mark", "end")
        await pilot.pause(0.2)
        shown = " ".join(screen_text(app).split())
        assert f"{' '.join(ACTIONS[-1].tooltip.split()[:4])} " in shown
        assert ACTIONS[-1].id in shown


async def test_the_palette_offers_only_what_can_be_done_here_and_does_it(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4", "ctrl+p")
        await pilot.pause(0.3)
        offers = await _offers(app)
        assert any(offer.startswith("Read the store again") for offer in offers)
        assert not any("Take back the last change" in offer for offer in offers)
        assert not any("Screenshot" in offer or "Maximize" in offer for offer in offers)
        await pilot.press(*"search the mem")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await pilot.pause(0.3)
        assert app.current_mode == "search"


async def test_the_palette_of_the_search_screen_has_its_actions(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("ctrl+p")
        await pilot.pause(0.3)
        offers = await _offers(app)
        assert any("Take back the last change" in offer for offer in offers)
        assert any("More weight on the meaning" in offer for offer in offers)


@pytest.mark.case("T02")
async def test_brackets_typed_into_the_palette_are_text(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4", "ctrl+p", "left_square_bracket", "slash", "right_square_bracket")
        await pilot.pause(0.3)
        assert isinstance(app.screen, CommandPalette)
        await pilot.press("escape")
        assert app.is_running
