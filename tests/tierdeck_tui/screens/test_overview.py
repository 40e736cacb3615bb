from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS, MakeApp, finished, keyword_settings
from tests.tierdeck_tui.screens.checkpoints_host import filled, ruin
from tests.tierdeck_tui.test_app import controls, screen_text
from tierdeck.config import CheckpointSettings, EmbeddingSettings, PromotionSettings, Settings
from tierdeck.model import NodeDraft, NodeType, Tier
from tierdeck.session import open_session
from tierdeck.store import add_node, open_store
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.screens.checkpoints import CheckpointsScreen
from tierdeck_tui.screens.overview import OverviewScreen
from tierdeck_tui.screens.promotions import PromotionsScreen
from tierdeck_tui.screens.search import SearchScreen
from tierdeck_tui.widgets.card import READING, Card

_LOCAL = Settings(embedding=EmbeddingSettings(provider="local"))


async def _overview(app: TierdeckApp, pilot: Pilot[None]) -> OverviewScreen:
    """The Overview with all cards read."""
    await pilot.press("4")
    screen = app.screen
    assert isinstance(screen, OverviewScreen)
    for _ in range(400):
        await pilot.pause(0.02)
        vectors = screen.query_one("#meaning", Card).lines[-1].value
        if vectors != "counting…" and all(card.lines != READING for card in screen.query(Card)):
            return screen
    raise AssertionError("the cards were not read")


def _card(screen: OverviewScreen, name: str) -> dict[str, str]:
    return {line.label: line.value for line in screen.query_one(f"#{name}", Card).lines}


async def test_memories_are_counted_by_tier_and_by_type(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await _overview(app, pilot)
        assert _card(screen, "tiers") == {tier.value: "5  25%" for tier in Tier}
        assert _card(screen, "types") == {kind.value: "4  20%" for kind in NodeType}
        shown = screen_text(app)
        assert all(f"{tier.value}" in shown for tier in Tier)
        assert "█" in shown


async def test_enter_on_a_line_opens_the_search_screen_with_its_filter(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await _overview(app, pilot)
        await pilot.press("j", "j", "enter")
        await pilot.pause(0.3)
        assert isinstance(app.screen, SearchScreen)
        assert "tier:longterm" in screen_text(app)
        assert "kept in longterm" in screen_text(app)
        assert "kept in task" not in screen_text(app)


async def test_a_click_on_a_line_opens_it_too(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test() as pilot:
        await _overview(app, pilot)
        await pilot.click("#types", offset=(4, 4))
        await pilot.pause(0.3)
        assert "type:decision" in screen_text(app)


async def test_a_rule_that_something_waits_for_opens_the_promotions_screen_with_that_rule(
    make_app: MakeApp, small_store: Path
) -> None:
    with open_store(small_store) as store:
        node_id = add_node(store, NodeDraft("waits for a person")).id
        session = open_session(store, "s-1", promotion=PromotionSettings(automatic=False))
        session.use(node_id)
        session.use(node_id)
    app = make_app(small_store)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await _overview(app, pilot)
        assert _card(screen, "promotion")["task→session"] == "1"
        assert _card(screen, "runs")["last sweep"].startswith("never")
        assert "2 lists them" in _card(screen, "next")["waiting"]
        screen.query_one("#promotion", Card).focus()
        await pilot.press("enter")
        await pilot.pause(0.3)
        assert isinstance(app.screen, PromotionsScreen)
        assert "only task → session" in screen_text(app)
        assert "waits for a person" in screen_text(app)


@pytest.mark.spec("SPEC-09.22")
async def test_saved_sessions_are_counted_and_lead_to_the_checkpoints_screen(
    make_app: MakeApp, small_store: Path, tmp_path: Path
) -> None:
    folder = filled(tmp_path / "checkpoints")
    ruin(folder)
    checkpoints = CheckpointSettings(folder=str(tmp_path / "checkpoints"))
    app = make_app(small_store, Settings(embedding=EmbeddingSettings(provider="off"), checkpoints=checkpoints))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await _overview(app, pilot)
        card = _card(screen, "checkpoints")
        assert card["newest"].endswith("ago: agent-7")
        assert card["sessions"] == "1 · 6 checkpoints"
        assert (card["damaged"], card["newer version"]) == ("1 file", "1 file")
        screen.query_one("#checkpoints", Card).focus()
        await pilot.press("enter")
        await pilot.pause(0.3)
        assert isinstance(app.screen, CheckpointsScreen)
        assert "agent-7" in screen_text(app)


async def test_a_checkpoint_folder_that_can_not_be_read_is_said_and_hides_no_other_card(
    make_app: MakeApp, small_store: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    checkpoints = CheckpointSettings(folder=str(tmp_path / "file"))
    app = make_app(small_store, Settings(embedding=EmbeddingSettings(provider="off"), checkpoints=checkpoints))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await _overview(app, pilot)
        [said, *_] = screen.query_one("#checkpoints", Card).lines
        assert (said.state, "list sessions in" in said.label) == ("bad", True)
        assert _card(screen, "tiers")["task"] == "5  25%"


async def test_tab_walks_through_the_cards_and_each_is_seen_whole(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(60, 16)) as pilot:
        screen = await _overview(app, pilot)
        seen = []
        for _ in range(len(screen.query(Card))):
            assert isinstance(app.focused, Card)
            seen.append(app.focused.id)
            await pilot.pause(0.1)
            assert str(app.focused.border_title) in screen_text(app)
            await pilot.press("tab")
        assert len(set(seen)) == len(screen.query(Card))


async def test_a_store_that_is_not_adopted_says_what_to_do(make_app: MakeApp, family_store_path: Path) -> None:
    app = make_app(family_store_path)
    before = {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()}
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await _overview(app, pilot)
        assert "tierdeck adopt" in _card(screen, "next")["not adopted"]
        assert _card(screen, "store")["kind"] == "another program's, ro: not adopted"
    assert {file.name: file.read_bytes() for file in family_store_path.parent.iterdir()} == before


async def test_an_empty_store_says_what_to_do(make_app: MakeApp, tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    open_store(path, create=True).close()
    app = make_app(path)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await _overview(app, pilot)
        assert "tierdeck import" in _card(screen, "next")["empty"]
        assert _card(screen, "tiers")["task"] == "0   0%"
        assert _card(screen, "store")["used"] == "never"


async def test_without_a_model_it_says_why_and_what_to_do(make_app: MakeApp, small_store: Path) -> None:
    app = make_app(small_store)
    async with app.run_test(size=(120, 40)) as pilot:
        await finished(app, "meaning")
        screen = await _overview(app, pilot)
        meaning = _card(screen, "meaning")
        assert meaning["state"] == "keyword only"
        assert meaning["why"]
        assert _card(screen, "next")["meaning"]


async def test_with_the_local_model_every_memory_gets_its_vector_by_itself(
    make_app: MakeApp, small_store: Path
) -> None:
    app = make_app(small_store, _LOCAL)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await _overview(app, pilot)
        for _ in range(600):
            await pilot.pause(0.05)
            if _card(screen, "meaning").get("embedded") == "20 of 20":
                break
        assert _card(screen, "meaning")["embedded"] == "20 of 20"
        assert _card(screen, "meaning")["state"] == "ready"
        assert "keyword only" not in screen_text(app)


async def test_a_remote_model_is_offered_and_not_run(
    make_app: MakeApp, small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERDECK_TEST_KEY", "any")
    remote = EmbeddingSettings(provider="openai", base_url="http://127.0.0.1:9", api_key_env="TIERDECK_TEST_KEY")
    app = make_app(small_store, Settings(embedding=remote))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await finished(app, "meaning", "index")
        screen = await _overview(app, pilot)
        assert _card(screen, "meaning")["waiting"] == "20"
        assert "tierdeck embed" in _card(screen, "next")["vectors"]


async def test_a_damaged_index_is_an_error_with_what_to_do_and_the_rest_is_shown(
    make_app: MakeApp, small_store: Path
) -> None:
    Path(f"{small_store}-index").write_bytes(b"this is no index file, but it is long enough to look like one" * 100)
    app = make_app(small_store)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await _overview(app, pilot)
        assert any(
            "index" in line.label and line.state == "bad" for line in screen.query_one("#meaning", Card).lines
        )
        assert "tierdeck embed" in " ".join(_card(screen, "next").values())
        assert _card(screen, "tiers")["task"] == "5  25%"


@pytest.mark.case("U01", "U05", "T05")
async def test_a_store_in_a_folder_of_hostile_name_is_shown_literally(make_app: MakeApp, tmp_path: Path) -> None:
    folder = tmp_path / "[bold red]\x1b]0;x\x07[x=\u202e"
    folder.mkdir()
    path = folder / "[@click=app.quit]\x9b2J.db"
    open_store(path, create=True).close()
    app = make_app(path, keyword_settings())
    async with app.run_test(size=(200, 40)) as pilot:
        await _overview(app, pilot)
        shown = screen_text(app)
        assert controls(shown) == []
        assert "\u202e" not in shown
        assert "[@click=app.quit]‹009B›2J.db" in shown


@pytest.mark.case("T05", "U05")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 32), (60, 16)])
async def test_no_screen_over_a_hostile_store_holds_a_character_that_a_terminal_obeys(
    make_app: MakeApp, hostile_store: Path, width: int, height: int
) -> None:
    app = make_app(hostile_store)
    async with app.run_test(size=(width, height), notifications=True) as pilot:
        await pilot.pause(0.2)
        for keys in (
            ["enter"],
            ["tab", "n", "n"],
            ["escape"],
            *[["j", "enter"]] * len(HOSTILE_TEXTS),
            ["4"],
            ["1", "f"],
        ):
            await pilot.press(*keys)
            await pilot.pause(0.05)
            shown = screen_text(app)
            assert controls(shown) == [], keys
            assert "\u202e" not in shown
        assert app.is_running
