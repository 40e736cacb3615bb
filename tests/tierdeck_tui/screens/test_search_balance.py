"""The balance between words and meaning: with a real local model, with a remote one on loopback, without any."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tierdeck.embed_server import EmbedServer, Fault
from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.search_host import DEBOUNCE_MS, Seen, words_only
from tests.tierdeck_tui.settled import until
from tierdeck.config import ConsoleSettings, EmbeddingSettings, Settings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.model import NodeDraft
from tierdeck.store import add_nodes, open_store
from tierdeck_tui.widgets.memory_list import MemoryList

TEXTS = (
    "The payment was returned to the customer",
    "refund refund refund table",
    "Cats sleep most of the day",
    "Give the customer the money back when the parcel is lost",
    "A refund is booked by hand",
)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store:
        add_nodes(store, [NodeDraft(text) for text in TEXTS])
    return path


@pytest.fixture
async def local(db: Path, make_app: MakeApp) -> AsyncIterator[Seen]:
    """The screen with the local model loaded and every memory embedded."""
    pytest.importorskip("wordllama", reason="it has no wheel for this platform")
    settings = Settings(
        embedding=EmbeddingSettings(provider="local"), console=ConsoleSettings(debounce_ms=DEBOUNCE_MS)
    )
    with open_store(db) as store:
        run_indexer(store, make_embedder(settings.embedding, store), settings.embedding)
    app = make_app(db, settings)
    async with app.run_test(size=(120, 32)) as pilot:
        seen = Seen(app, pilot)
        await until(pilot, lambda: app.deck.meaning_state().is_ready)
        await seen.settle()
        yield seen


async def test_meaning_finds_what_no_word_of_the_query_stands_in(local: Seen) -> None:
    await local.ask("refund for the client")
    assert "keyword only" not in local.status
    assert any("money back" in row for row in local.rows())


@pytest.mark.spec("SPEC-09.05")
async def test_moving_the_balance_orders_the_same_answer_anew_without_asking_again(local: Seen) -> None:
    await local.ask("refund")
    number, before = local.screen._number, local.screen._answer
    assert before is not None
    await local.press("right_square_bracket", "right_square_bracket")
    assert local.alpha == 0.7
    after = local.screen._answer
    assert after is not None
    assert after.candidates is before.candidates, "no new query was made"
    assert after.alpha == 0.7
    assert local.screen._number > number, "an answer still on its way would be stale"
    assert "= 0.7×" in local.detail_text


async def test_the_cursor_stays_on_its_memory_when_the_order_changes(local: Seen) -> None:
    await local.ask("refund for the client")
    await local.press("j", "j")
    on = local.cursor_text
    await local.press(*["left_square_bracket"] * 4)
    assert local.cursor_text == on
    await local.press(*["right_square_bracket"] * 8)
    assert local.cursor_text == on


async def test_leaving_an_end_asks_once_more(local: Seen) -> None:
    await local.ask("refund")
    await local.press("a", "home")
    assert local.alpha == 0.0
    await local.ask("refund")
    at_words = local.screen._answer
    assert at_words is not None
    assert not at_words.has_both_sides
    await local.press("right_square_bracket")
    answer = local.screen._answer
    assert answer is not None
    assert answer.alpha == 0.1
    assert answer.has_both_sides


async def test_what_came_without_meaning_is_asked_again_when_the_model_is_there(
    db: Path, make_app: MakeApp
) -> None:
    pytest.importorskip("wordllama", reason="it has no wheel for this platform")
    settings = Settings(
        embedding=EmbeddingSettings(provider="local"), console=ConsoleSettings(debounce_ms=DEBOUNCE_MS)
    )
    app = make_app(db, settings)
    async with app.run_test(size=(120, 32)) as pilot:
        seen = Seen(app, pilot)
        await seen.ask("refund for the client")
        await until(pilot, lambda: seen.screen._answer is not None and seen.screen._answer.degraded is None)
        assert "keyword only" not in seen.status
        assert any("money back" in row for row in seen.rows())


# A remote model: nothing that is typed goes out before Enter.


@pytest.fixture
def server() -> Iterator[EmbedServer]:
    with EmbedServer(8) as running:
        yield running


@pytest.fixture
async def remote(
    db: Path, make_app: MakeApp, server: EmbedServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Seen]:
    """The screen with a remote model, every memory embedded; the server's book is empty."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000000000000000")
    embedding = EmbeddingSettings(
        provider="openai", model="m", dimensions=8, base_url=server.base_url, max_attempts=1
    )
    with open_store(db) as store:
        run_indexer(store, make_embedder(embedding, store), embedding)
    server.calls.clear()
    app = make_app(db, replace(words_only(), embedding=embedding))
    async with app.run_test(size=(140, 32)) as pilot:
        seen = Seen(app, pilot)
        await until(pilot, lambda: app.deck.meaning_state().is_ready)
        await seen.settle()
        yield seen


async def test_typing_sends_nothing_to_a_remote_model_and_enter_sends_the_query(
    remote: Seen, server: EmbedServer
) -> None:
    await remote.press("slash")
    await remote.type("refund")
    assert server.inputs == []
    assert "Enter sends the query to m" in remote.status
    assert len(remote.rows()) == 2
    await remote.press("enter")
    assert server.inputs == ["refund"]
    assert "keyword only" not in remote.status


async def test_what_was_sent_once_may_move_with_the_balance_but_other_words_wait_again(
    remote: Seen, server: EmbedServer
) -> None:
    await remote.ask("refund")
    await remote.press("slash")
    await remote.type(" type:fact")
    assert set(server.inputs) == {"refund"}
    await remote.type(" table")
    assert set(server.inputs) == {"refund"}
    assert "Enter sends" in remote.status


async def test_the_same_query_again_costs_nothing(remote: Seen, server: EmbedServer) -> None:
    await remote.ask("refund")
    remote.screen.store_changed()
    await remote.settle()
    await remote.ask("refund tier:task")
    await remote.press("r")
    assert server.inputs == ["refund"]
    assert "keyword only" not in remote.status


@pytest.mark.case("U08", "U04")
async def test_a_provider_that_fails_leaves_the_words_and_its_own_words_are_shown_as_they_stand(
    remote: Seen, server: EmbedServer
) -> None:
    server.fault_for = lambda text: Fault(403, message="[Warning] denied for '[app]' [/x]")
    await remote.ask("refund")
    assert len(remote.rows()) == 2
    assert "keyword only: " in remote.status
    assert "[Warning] denied for '[app]' [/x]" in remote.status
    assert "off" in "".join(remote.painted()[2])


async def test_the_pane_says_why_of_the_newest_answer_also_where_the_rows_are_the_same(
    remote: Seen, server: EmbedServer
) -> None:
    server.fault_for = lambda text: Fault(403, message="denied")
    await remote.press("slash")
    await remote.type("refund")
    assert "Enter sends the query to m" in remote.detail_text
    await remote.press("enter")
    await until(remote.pilot, lambda: "denied" in remote.detail_text)
    assert "Enter sends" not in remote.detail_text


async def test_without_a_model_the_balance_says_off_and_moving_it_changes_no_order(
    db: Path, make_app: MakeApp
) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=(120, 32)) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        await seen.ask("refund")
        before = seen.rows()
        assert "meaning ▒ off" in seen.painted()[2]
        await seen.press("right_square_bracket")
        assert seen.rows() == before
        assert isinstance(app.focused, MemoryList)


async def test_enter_leaves_the_balance_for_the_list(db: Path, make_app: MakeApp) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=(120, 32)) as pilot:
        seen = Seen(app, pilot)
        await seen.settle()
        await seen.press("a", "left", "enter")
        assert seen.alpha == 0.4
        assert seen.focused == "results"
