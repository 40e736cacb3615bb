from __future__ import annotations

import stat
from pathlib import Path

import pytest
from platformdirs import user_state_path
from textual.app import App
from textual.events import Key
from textual.widgets._toast import Toast

from tests.packaging.test_imports import loaded_after
from tests.tierdeck_tui.conftest import HOSTILE_TEXTS, MakeApp, finished, keyword_settings
from tests.tierdeck_tui.settled import until
from tierdeck.errors import ConfigError, ProviderError
from tierdeck.model import NodeDraft
from tierdeck.store import add_node, open_store
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.key_order import PATIENCE_S
from tierdeck_tui.messages import MeaningChanged, StoreChanged, VectorsFailed
from tierdeck_tui.screens.help import HelpScreen, KeyTable
from tierdeck_tui.screens.overview import OverviewScreen
from tierdeck_tui.screens.promotions import PromotionsScreen
from tierdeck_tui.screens.search import SearchScreen


def screen_text(app: App[None]) -> str:
    """What the terminal shows, line by line."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def controls(text: str) -> list[str]:
    """The characters that a terminal would obey."""
    return [char for char in text if char != "\n" and (ord(char) < 0x20 or 0x7F <= ord(char) <= 0x9F)]


@pytest.mark.case("T22")
def test_the_console_comes_up_without_numpy_and_the_models() -> None:
    assert loaded_after("import tierdeck_tui.app") == {"textual"}


async def test_modes_are_reached_by_digit_and_by_function_key_and_keep_their_state(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        screens = [app.screen]
        for key in ("2", "4", "f1", "f2", "f4"):
            await pilot.press(key)
            screens.append(app.screen)
        assert [type(screen) for screen in screens] == [SearchScreen, PromotionsScreen, OverviewScreen] * 2
        assert screens[3:] == screens[:3]


async def test_the_digits_that_no_mode_has_do_nothing(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4", "5", "f5")
        assert app.current_mode == "overview"


async def test_keys_from_the_settings_are_what_counts(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store, keyword_settings(keymap={"mode_overview": "i", "quit": "r", "reload": "q"}))
    async with app.run_test() as pilot:
        await pilot.press("4")
        assert app.current_mode == "search"
        await pilot.press("i")
        assert app.current_mode == "overview"
        await pilot.press("q")
        assert app.is_running
        await pilot.press("question_mark")
        table = app.screen.query_one(KeyTable).render().plain
        assert "  w " in table
        assert "  4 F4" not in table


async def test_a_keymap_that_can_not_work_is_refused_before_anything_is_drawn(
    make_app: MakeApp, small_store: Path
) -> None:
    with pytest.raises(ConfigError):
        make_app(small_store, keyword_settings(keymap={"quit": "ctrl+enter"}))


@pytest.mark.case("T16")
@pytest.mark.parametrize(
    "keys", [["q"], ["ctrl+q"], ["ctrl+c", "ctrl+c"], ["slash", "ctrl+q"], ["question_mark", "ctrl+q"]]
)
async def test_these_keys_leave(make_app: MakeApp, small_store: Path, keys: list[str]) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4", *keys) if keys[0] != "slash" else await pilot.press(*keys)
        await pilot.pause()
        assert not app.is_running
    assert app.return_code == 0


@pytest.mark.case("T16")
async def test_one_ctrl_c_only_says_how_to_leave(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(notifications=True) as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.is_running
        assert "ctrl+c again leaves" in screen_text(app)


async def test_an_action_that_writes_is_refused_with_the_reason_where_the_store_is_not_adopted(
    make_app: MakeApp, family_store_path: Path
) -> None:
    app = make_app(family_store_path)
    before = {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()}
    async with app.run_test(size=(120, 32), notifications=True) as pilot:
        await pilot.pause()
        await pilot.press("u")
        await pilot.pause()
        assert "tierdeck adopt" in screen_text(app)
        assert isinstance(app.screen, SearchScreen)
    assert {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()} == before


@pytest.mark.case("T14")
async def test_copying_uses_the_terminals_own_sequence_and_a_file_and_says_both(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(160, 32), notifications=True) as pilot:
        app.copy_out("\x1b]52;c;x\x07 [/x] \ud800", "the text")
        await pilot.pause()
        assert app.clipboard == "\x1b]52;c;x\x07 [/x] ?"
        assert "copied the text" in screen_text(app)
        assert "also written to" in screen_text(app)
    path = user_state_path("tierdeck", appauthor=False) / "copied.txt"
    assert path.read_text("utf-8") == "\x1b]52;c;x\x07 [/x] ?"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("cells", [60, 80, 120])
async def test_the_last_line_of_a_toast_is_not_cut(make_app: MakeApp, small_store: Path, cells: int) -> None:
    told = "applied: session s-fork1 begins at turn 4; the old one is as it was; 2 calls: 1 run again, 1 marked"
    app = make_app(small_store)
    async with app.run_test(size=(cells, 24), notifications=True) as pilot:
        app.notify(f"{told} done")
        await pilot.pause()
        assert "done" in screen_text(app)


@pytest.mark.case("T01", "U01", "U08")
@pytest.mark.parametrize("text", [*HOSTILE_TEXTS, "[Warning] denied for '[app]'", "/srv/[data: /m?id=1-]/x.db"])
async def test_errors_and_toasts_are_shown_literally(make_app: MakeApp, small_store: Path, text: str) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        app.show_error(ProviderError(text, is_retryable=True, hint=text))
        app.notify(text, title=text)
        await pilot.pause()
        assert len(app.screen.query(Toast)) == 2
        shown = screen_text(app)
        assert controls(shown) == []
        assert "\u202e" not in shown
        if text.isprintable() and text.isascii():
            assert text in shown


async def test_an_error_says_the_word_error_beside_its_colour(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(notifications=True) as pilot:
        app.show_error(ProviderError("the server is gone", is_retryable=True))
        app.notify("look out", severity="warning")
        await pilot.pause()
        shown = screen_text(app)
        assert "error" in shown
        assert "warning" in shown


async def test_what_another_program_writes_is_counted_in_the_header(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.status.memories == 20)
        with open_store(small_store) as other:
            add_node(other, NodeDraft("one more"))
        await until(pilot, lambda: app.status.memories == 21)


@pytest.mark.case("T23")
async def test_workers_of_two_purposes_run_side_by_side(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4")
        app.action_reload()
        groups = {worker.group for worker in app.workers if not worker.is_finished}
        assert {"overview", "vectors"} <= groups
        await finished(app, "overview", "vectors")
        assert not any(
            worker.is_cancelled for worker in app.workers if worker.group == "vectors" and worker.is_running
        )


async def test_keys_that_arrive_in_a_burst_go_where_they_would_one_by_one(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        driver = app._driver
        assert driver is not None
        for key, char in (("slash", "/"), *((letter, letter) for letter in "quae4"), ("question_mark", "?")):
            driver.send_message(Key(key, char))
        await pilot.pause(PATIENCE_S)
        assert app.is_running
        assert app.current_mode == "search"
        assert "quae4?" in screen_text(app)
        assert not isinstance(app.screen, HelpScreen)


async def test_a_failure_nobody_foresaw_ends_the_app_and_is_kept(make_app: MakeApp, small_store: Path) -> None:
    class Broken(TierdeckApp):
        def action_reload(self) -> None:
            raise ValueError("boom")

    app = Broken(make_app(small_store)._source)

    async def run() -> None:
        async with app.run_test() as pilot:
            await pilot.press("4", "r")
            await pilot.pause()

    with pytest.raises(ValueError, match="boom"):
        await run()
    assert isinstance(app.failure, ValueError)
    assert app.return_code == 1


async def test_a_message_that_comes_while_the_screens_are_taken_down_is_no_crash(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await pilot.press("4")
        await pilot.pause()
        app.exit()
        app.screen.query_one("#meaning").remove()
        app.screen.post_message(VectorsFailed(ProviderError("count: late", is_retryable=False)))
    assert app.failure is None


async def test_news_before_a_screen_has_its_widgets_wait_for_it(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        late = OverviewScreen(app.deck)
        app._screens["late"] = late
        app.post_message(MeaningChanged(app.deck.meaning_state()))
        app.post_message(StoreChanged(3, is_first=False))
        await pilot.pause()
        del app._screens["late"]
    assert app.failure is None
