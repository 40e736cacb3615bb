from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input

from tests.tierdeck_tui.conftest import MakeApp
from tierdeck.config import ConsoleSettings
from tierdeck_tui.key_order import PATIENCE_S
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.help import HelpScreen
from tierdeck_tui.shell import ShellApp


async def _burst(pilot: Pilot[None], *keys: str) -> None:
    """Send the keys all at once, as a slow line delivers them, and wait until they are through."""
    app = pilot.app
    assert isinstance(app, ShellApp)
    assert app._driver is not None
    for key in keys:
        app._driver.send_message(Key(key, key if len(key) == 1 else None))
    for _ in range(1_000):
        await pilot.pause(0.02)
        if not app._key_order._is_busy:
            return
    raise TimeoutError("the keys were not through")


class _Vanishing(Widget, can_focus=True):
    """A widget that is gone before its key has had its effect."""

    async def on_key(self) -> None:
        self.remove()


class _Stage(Screen[None]):
    """A box below a widget that vanishes."""

    def compose(self) -> ComposeResult:
        yield _Vanishing()
        yield Input()


async def test_a_burst_goes_where_it_would_one_by_one(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.pause()
        await _burst(pilot, "slash", "q", "u", "a", "e", "4", "question_mark")
        assert app.is_running
        assert app.current_mode == "search"
        assert isinstance(app.focused, Input)
        assert app.focused.value.startswith("quae4")
        assert not isinstance(app.screen, HelpScreen)


async def test_keys_after_one_that_closes_a_dialog_reach_what_lies_below(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4")
        await app.push_screen(ConfirmDialog("a", "b", confirm="c"))
        await _burst(pilot, "escape", "question_mark", "escape", "1")
        assert app.current_mode == "search"
        assert not isinstance(app.screen, ModalScreen)


async def test_keys_after_one_that_opens_a_dialog_reach_the_dialog(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4")
        await _burst(pilot, "question_mark", "q", "1")
        assert isinstance(app.screen, HelpScreen)
        assert app.is_running


async def test_a_key_that_takes_its_widget_away_does_not_hold_up_those_after_it() -> None:
    app = ShellApp(ConsoleSettings())
    async with app.run_test() as pilot:
        await app.push_screen(_Stage())
        await pilot.pause()
        await _burst(pilot, "x", "a", "b")
        await pilot.pause(PATIENCE_S)
        await _burst(pilot, "c")
        assert app.screen.query_one(Input).value.endswith("c")


@pytest.mark.parametrize("times", [1, 40])
async def test_every_key_of_a_long_burst_is_counted(make_app: MakeApp, small_store: Path, times: int) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("slash")
        await _burst(pilot, *["x"] * times)
        await pilot.pause(PATIENCE_S)
        assert isinstance(app.focused, Input)
        assert app.focused.value == "x" * times
