from __future__ import annotations

from pathlib import Path

import pytest

from tests.tierdeck_tui.conftest import MakeApp
from tests.tierdeck_tui.screens.search_host import DEBOUNCE_MS, Seen, words_only
from tests.tierdeck_tui.settled import until
from tests.tierdeck_tui.test_app import screen_text
from tierdeck.config import ConsoleSettings, EmbeddingSettings, Settings
from tierdeck.model import NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.search import hybrid_search, parse_query
from tierdeck.store import add_nodes, open_store, page_around
from tierdeck_tui.reading.search_run import SearchRequest
from tierdeck_tui.screens.search import SearchScreen

START_MS = 1_700_000_000_000
TEXTS = (
    ("refunds are booked by hand", NodeType.FACT, Tier.TASK),
    ("a refund job retries with the same key", NodeType.DECISION, Tier.LONGTERM),
    ("the deploy key is rotated each spring", NodeType.FACT, Tier.SESSION),
    ("redis holds the sessions", NodeType.ENTITY, Tier.LONGTERM),
    ("[OPS-1234] fix [/etc/app] a[0] for the refund page", NodeType.SNIPPET, Tier.TASK),
)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A store with five memories, the last one the newest."""
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store:
        add_nodes(
            store,
            [
                NodeDraft(text, type=kind, tier=tier, created_at_ms=START_MS + n * 1000)
                for n, (text, kind, tier) in enumerate(TEXTS)
            ],
        )
    return path


@pytest.fixture
async def seen(db: Path, make_app: MakeApp):  # type: ignore[no-untyped-def] # an async generator fixture
    """The Search screen at 120 columns over the five memories, words only."""
    app = make_app(db, words_only())
    async with app.run_test(size=(120, 32)) as pilot:
        found = Seen(app, pilot)
        await found.settle()
        yield found


async def test_it_begins_with_the_newest_memories_and_the_detail_of_the_first(seen: Seen) -> None:
    assert seen.focused == "results"
    assert seen.rows()[0] == TEXTS[-1][0]
    assert "5 memories, newest first" in seen.status
    assert "[OPS-1234] fix [/etc/app] a[0]" in seen.detail_text


async def test_typing_searches_and_enter_goes_to_the_list(seen: Seen) -> None:
    await seen.press("slash")
    await seen.type("refund")
    assert len(seen.rows()) == 3
    assert seen.focused == "query"
    await seen.press("enter")
    assert seen.focused == "results"
    assert "3 memories" in seen.status
    assert "why it came up" in seen.detail_text


async def test_the_last_word_is_found_while_it_is_typed(seen: Seen) -> None:
    await seen.press("slash")
    await seen.type("refu")
    assert len(seen.rows()) == 3


async def test_a_slip_is_pointed_out_while_it_is_typed_and_no_beginning_of_a_word_is(seen: Seen) -> None:
    await seen.press("slash")
    for char in "sesions":
        await seen.type(char)
        painted = "\n".join(seen.painted())
        is_beginning = any(word.startswith(seen.box.value) for text, _, _ in TEXTS for word in text.split())
        assert ("in no memory" not in painted) == is_beginning, seen.box.value
    assert "near: sessions" in painted
    await seen.ask("sesions rotated")
    assert "1 memory · in no memory: sesions (sessions?)  c takes it" in seen.status


async def test_c_asks_for_the_near_word_and_again_for_what_was_typed(seen: Seen) -> None:
    await seen.ask("sesions type:entity")
    assert "c looks for what is near instead" in "\n".join(seen.painted())
    await seen.press("c")
    assert seen.box.value == "sessions type:entity"
    assert seen.rows() == ["redis holds the sessions"]
    await seen.press("c")
    assert seen.box.value == "sesions type:entity"
    await seen.ask("refund")
    await seen.press("c")
    assert seen.box.value == "refund"


@pytest.mark.case("T02", "T01")
async def test_half_a_tag_in_the_box_is_a_query_like_any_other(seen: Seen) -> None:
    await seen.press("slash")
    for char in "[/x](":
        await seen.type(char)
    await seen.press("enter")
    assert "error" not in seen.status


async def test_a_burst_of_keys_is_one_search_and_the_old_rows_stay_until_then(db: Path, make_app: MakeApp) -> None:
    answered: list[int] = []
    app = make_app(db, words_only(debounce_ms=300))
    async with app.run_test(size=(120, 32)) as pilot:
        found = Seen(app, pilot)
        await found.settle()
        show = found.screen._show_answer

        def counted(answer, *, keep_cursor):  # type: ignore[no-untyped-def]
            answered.append(1)
            show(answer, keep_cursor=keep_cursor)

        found.screen._show_answer = counted  # type: ignore[method-assign]
        await pilot.press("slash", *"refund")
        assert len(found.rows()) == 5, "nothing was asked yet"
        await pilot.pause(0.4)
        await found.settle()
        assert len(found.rows()) == 3
        assert len(answered) == 1


async def test_a_stale_answer_never_replaces_a_newer_one(seen: Seen) -> None:
    await seen.ask("redis")
    screen, store = seen.screen, seen.app.deck.store
    old = hybrid_search(store, "refund", alpha=0.0)
    stale = SearchRequest(screen._number - 1, parse_query("refund"), 0.0, is_typing=False)
    screen.post_message(SearchScreen.Answered(stale, old, keep_cursor=False))
    await seen.settle()
    assert seen.rows() == ["redis holds the sessions"]


async def test_an_answer_that_comes_after_the_box_was_emptied_is_stale(seen: Seen) -> None:
    await seen.ask("redis")
    old = hybrid_search(seen.app.deck.store, "redis", alpha=0.0)
    stale = SearchRequest(seen.screen._number, parse_query("redis"), 0.0, is_typing=False)
    await seen.ask("")
    seen.screen.post_message(SearchScreen.Answered(stale, old, keep_cursor=False))
    await seen.settle()
    assert len(seen.rows()) == 5
    assert "newest first" in seen.status


@pytest.mark.case("T23")
async def test_workers_of_two_purposes_do_not_cancel_each_other(seen: Seen) -> None:
    await seen.pilot.press("slash", *"refund", "enter", "j")
    await seen.settle()
    groups = {worker.group for worker in seen.app.workers}
    assert "watch" in groups, "the app's own worker still runs"
    assert len(seen.rows()) == 3
    assert seen.cursor_text in seen.detail_text


async def test_typed_filters_are_chips_and_narrow_the_list(seen: Seen) -> None:
    await seen.ask("refund tier:task")
    assert seen.chips.strip() == "[tier:task]"
    assert len(seen.rows()) == 2
    await seen.ask("tier:longterm")
    assert len(seen.rows()) == 2
    assert "2 memories, newest first" in seen.status


async def test_what_the_archive_keeps_from_the_list_is_counted_and_shown_when_asked_for(seen: Seen) -> None:
    assert "archived" not in seen.status
    store = seen.app.deck.store
    rows = page_around(store, NodeFilter(), None, before_rows=0, after_rows=9).rows
    archive_nodes(store, [row.id for row in rows[:2]], actor="me")
    seen.screen.reload()
    await seen.settle()
    assert seen.status.strip() == "3 memories, newest first · 2 archived (is:archived shows them)"
    await seen.ask("type:snippet")
    assert "0 memories, newest first · 1 archived (is:archived shows them)" in seen.status
    assert "is archived." in screen_text(seen.app)
    await seen.ask("is:archived")
    assert seen.status.strip() == "5 memories, newest first"
    await seen.ask("tier:task")
    assert "archived" not in seen.status


async def test_nothing_found_names_the_filter_and_x_drops_it(seen: Seen) -> None:
    await seen.ask("redis type:fact")
    painted = "\n".join(seen.painted())
    assert "Nothing found for “redis”" in painted
    assert "type:fact hides 1 memory  x drops it" in painted
    await seen.press("x")
    assert seen.box.value == "redis"
    assert seen.rows() == ["redis holds the sessions"]


@pytest.mark.spec("SPEC-03.19", "SPEC-03.20")
async def test_what_is_only_in_the_archive_is_said_and_shown_on_a_key(seen: Seen) -> None:
    [hit] = hybrid_search(seen.app.deck.store, "redis", alpha=0.0).hits
    archive_nodes(seen.app.deck.store, [hit.row.id], actor="test")
    await seen.ask("redis")
    assert "the archive holds 1 match" in "\n".join(seen.painted())
    await seen.press("x")
    assert seen.box.value == "redis is:archived"
    assert seen.rows() == ["redis holds the sessions"]


async def test_without_a_model_the_status_says_why_and_what_to_do(seen: Seen) -> None:
    await seen.ask("refund")
    assert "keyword only: " in seen.status
    assert seen.status.count("keyword only") == 1


async def test_escape_goes_from_the_box_to_the_list_then_clears_filters_then_words(seen: Seen) -> None:
    await seen.ask("refund tier:task")
    await seen.press("slash", "escape")
    assert seen.focused == "results"
    await seen.press("escape")
    assert seen.box.value == "refund"
    await seen.press("escape")
    assert seen.box.value == ""
    assert len(seen.rows()) == 5


async def test_up_in_the_box_brings_back_what_was_asked(seen: Seen) -> None:
    await seen.ask("refund")
    await seen.ask("redis")
    await seen.press("slash", "up", "up")
    assert seen.box.value == "refund"
    assert len(seen.rows()) == 3
    await seen.press("down", "down", "down")
    assert seen.focused == "results"


async def test_sort_turns_the_list_round_and_a_search_keeps_its_scores(seen: Seen) -> None:
    await seen.press("s")
    assert seen.rows()[0] == TEXTS[0][0]
    assert "oldest first" in seen.status
    await seen.ask("refund")
    before = seen.rows()
    await seen.press("s")
    assert seen.rows() == before


async def test_another_programs_write_is_seen_and_the_cursor_stays(seen: Seen) -> None:
    await seen.press("j", "j")
    on = seen.cursor_text
    with open_store(seen.app.deck.store.path) as other:
        add_nodes(other, [NodeDraft("written by another program")])
    seen.screen.store_changed()
    await seen.settle()
    assert "written by another program" in seen.rows()
    assert seen.cursor_text == on


async def test_open_query_before_and_after_the_screen_is_there(db: Path, make_app: MakeApp) -> None:
    app = make_app(db, words_only())
    async with app.run_test(size=(120, 32)) as pilot:
        found = Seen(app, pilot)
        await found.settle()
        app.open_search("tier:longterm")
        await found.settle()
        assert len(found.rows()) == 2
        fresh = SearchScreen(app.deck)
        fresh.open_query("redis")
        app.push_screen(fresh)
        await pilot.pause()
        assert fresh.query_one("#query").value == "redis"  # type: ignore[attr-defined]


@pytest.mark.case("U08")
async def test_an_error_of_the_store_is_shown_and_the_rows_stay(seen: Seen) -> None:
    before = seen.rows()
    seen.app.deck.store.path.rename(seen.app.deck.store.path.with_suffix(".gone"))
    seen.app.deck.store.path.write_bytes(b"not a database [/x] at all" * 100)
    seen.app.deck.store.close()
    await seen.press("r")
    assert seen.status.startswith("error: ")
    assert seen.rows() == before


async def test_a_memory_of_another_program_is_found_by_meaning_as_soon_as_it_has_its_vector(
    tmp_path: Path, make_app: MakeApp
) -> None:
    path = tmp_path / "memory.db"
    with open_store(path, create=True) as store:
        add_nodes(store, [NodeDraft("invoices are paid by hand"), NodeDraft("the cache is warmed at night")])
    settings = Settings(
        embedding=EmbeddingSettings(provider="local"), console=ConsoleSettings(debounce_ms=DEBOUNCE_MS)
    )
    app = make_app(path, settings)
    async with app.run_test(size=(120, 32)) as pilot:
        seen = Seen(app, pilot)
        await until(pilot, lambda: seen.app.deck.index() is not None)
        await seen.ask("money back for customers")
        with open_store(path) as other:
            add_nodes(other, [NodeDraft("refunds go to customers")])
        await until(pilot, lambda: any("refunds" in row and "[no vector]" not in row for row in seen.rows()))
