"""Search in a store so large that common words are not followed to their end: with low bounds."""

from __future__ import annotations

import apsw
import pytest

from tests.tierdeck.search.memories import remember, texts
from tierdeck.model import NodeDraft, NodeFilter, Tier
from tierdeck.search import candidates, hybrid_search
from tierdeck.search.rows import word_counts
from tierdeck.search.words import keyword_leg, large_pool
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms

COMMON = [f"flow pressure layer {n} {'wing' if n % 3 else 'tail'}" for n in range(600)]
RARE = ["aileron flow", "aileron buzz tail", "checkout flow of the getCheckoutId"]


@pytest.fixture
def large(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", 100)
    monkeypatch.setattr(word_counts, "MAX_EXACT_ROWS", 20)
    monkeypatch.setattr(large_pool, "MAX_LOOKED_ROWS", 50)
    monkeypatch.setattr(large_pool, "PICK_ROWS", 20)
    monkeypatch.setattr(keyword_leg, "PICK_ROWS", 20)
    remember(store, *RARE, *COMMON)
    return store


def small_bm25(store: Store, text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    with monkeypatch.context() as patch:
        patch.setattr(word_counts, "LARGE_FROM_ROWS", 10**9)
        answer = hybrid_search(store, text, alpha=0, limit_rows=700)
        return {hit.row.excerpt: hit.keyword.bm25 for hit in answer.hits if hit.keyword}


def test_rare_words_pick_and_all_words_score(large: Store) -> None:
    answer = hybrid_search(large, "aileron tail", alpha=0, limit_rows=2)
    assert texts(answer) == [RARE[1], RARE[0]]
    assert [hit.keyword and hit.keyword.matched_terms for hit in answer.hits] == [2, 1]
    assert any("tail" in note for note in answer.notes)


def test_the_score_from_a_text_is_fts5s_own(large: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("aileron", "aileron buzz", '"aileron buzz" checkout', "aileron aileron aileron buzz"):
        by_index = small_bm25(large, text, monkeypatch)
        answer = hybrid_search(large, text, alpha=0, limit_rows=2)
        assert answer.hits
        for hit in answer.hits:
            assert hit.keyword is not None
            assert hit.keyword.bm25 == pytest.approx(by_index[hit.row.excerpt], rel=1e-4)


def test_with_the_list_of_words_the_score_is_fts5s_own_for_common_words_too(
    large: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_terms(large)
    by_index = small_bm25(large, "flow wing aileron", monkeypatch)
    answer = hybrid_search(large, "flow wing aileron", alpha=0, limit_rows=2)
    assert [hit.keyword and hit.keyword.bm25 for hit in answer.hits] == [
        pytest.approx(by_index[text], rel=1e-9) for text in texts(answer)
    ]


def test_words_that_say_nothing_are_found_beside_one_that_stands_nowhere(large: Store) -> None:
    answer = hybrid_search(large, "the xyzzy", alpha=0)
    assert texts(answer) == [RARE[2]]
    remember(large, *(f"{text} of the day" for text in COMMON))
    assert len(hybrid_search(large, "the xyzzy", alpha=0, limit_rows=20).hits) == 20


def test_common_words_alone_find_those_that_hold_all_of_them(large: Store) -> None:
    answer = hybrid_search(large, "flow tail", alpha=0, limit_rows=10)
    assert len(answer.hits) == 10
    assert all("flow" in text and "tail" in text for text in texts(answer))
    assert keyword_leg.NEWEST_ONLY not in answer.notes  # there are 200, and all were looked at
    assert keyword_leg.NEWEST_ONLY in hybrid_search(large, "flow", alpha=0, limit_rows=10).notes


def test_a_common_word_is_found_under_a_filter_that_lets_one_memory_through(large: Store) -> None:
    with large.writing() as conn:
        conn.execute("UPDATE nodes SET tier = 'longterm' WHERE content = ?", (COMMON[5],))
    longterm = NodeFilter(tiers=frozenset({Tier.LONGTERM}))
    assert texts(hybrid_search(large, "flow", alpha=0, node_filter=longterm)) == [COMMON[5]]
    nothing = NodeFilter(session="none")
    assert hybrid_search(large, "flow", alpha=0, node_filter=nothing).hits == ()


def test_under_a_narrow_filter_all_that_hold_a_common_word_are_found_new_and_old(large: Store) -> None:
    """The newest of them stand among the rows that are looked at first, the oldest far behind."""
    narrow = {"tags": ["narrow"]}
    ids = remember(large, *(NodeDraft(f"flow, narrow {n}", metadata=narrow) for n in range(3)), *COMMON)[:3]
    ids += remember(large, NodeDraft("flow, the newest", metadata=narrow))
    answer = hybrid_search(large, "flow tag:narrow", alpha=0, limit_rows=50)
    assert {hit.row.id for hit in answer.hits} == set(ids)
    assert keyword_leg.NEWEST_ONLY not in answer.notes


def test_an_excluded_word_keeps_memories_out(large: Store) -> None:
    assert texts(hybrid_search(large, "aileron -buzz", alpha=0)) == [RARE[0]]
    remember(large, "getCheckoutName")
    assert texts(hybrid_search(large, "checkout -getCheckoutId", alpha=0)) == ["getCheckoutName"]
    found = texts(hybrid_search(large, "flow -wing", alpha=0, limit_rows=10))
    assert found
    assert not any("wing" in text for text in found)


def test_a_prefix_is_looked_for_as_the_most_frequent_words_that_it_may_become(large: Store) -> None:
    remember(large, *(f"conversion {n}" for n in range(30)), "conger eel")
    fill_terms(large)
    asked: list[str] = []

    def saw(_: apsw.Cursor, sql: str, bindings: apsw.Bindings | None) -> bool:
        asked.extend(str(value) for value in bindings or () if "MATCH" in sql)
        return True

    large.read(lambda conn: setattr(conn, "exec_trace", saw))
    answer = hybrid_search(large, "con", alpha=0, is_typing=True, limit_rows=40)
    assert {text.split()[0] for text in texts(answer)} == {"conversion", "conger"}
    assert not any('"con" *' in text for text in asked)
    assert texts(hybrid_search(large, "flow ail", alpha=0, is_typing=True))[0] == RARE[0]


def test_what_filters_hide_is_counted_in_the_newest_matches_only_and_said(
    large: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(large, *(NodeDraft(f"flow {n}", tier=Tier.ARCHIVE) for n in range(30)))
    monkeypatch.setattr(candidates, "MAX_COUNTED_OF_LARGE", 20)
    [hidden] = hybrid_search(large, "flow", alpha=0, limit_rows=700).hidden
    assert (hidden.filter_text, hidden.rows, hidden.is_least) == ("is:archived", 20, True)


def renumber(store: Store) -> None:
    """The full-text rows anew with other numbers, as the family's rebuild leaves them."""
    with store.writing() as conn:
        rows = conn.execute("SELECT node_id, content, type FROM content_fts ORDER BY rowid DESC").fetchall()
        conn.execute("DELETE FROM content_fts")
        conn.executemany("INSERT INTO content_fts (node_id, content, type) VALUES (?, ?, ?)", rows)


def test_renumbered_full_text_rows_find_their_memories(large: Store) -> None:
    queries = ("aileron", "aileron tail", "aileron buzz", "checkout", "the xyzzy", '"aileron flow"')
    before = [texts(hybrid_search(large, query, alpha=0, limit_rows=2)) for query in queries]
    renumber(large)
    assert [texts(hybrid_search(large, query, alpha=0, limit_rows=2)) for query in queries] == before


def test_a_full_text_row_under_the_number_of_a_filtered_memory_finds_its_own(large: Store) -> None:
    remember(large, NodeDraft("aileron kept out", tier=Tier.ARCHIVE), "aileron shown")
    renumber(large)
    assert set(texts(hybrid_search(large, "aileron", alpha=0))) == {*RARE[:2], "aileron shown"}


def test_a_memory_is_looked_up_once_where_the_full_text_rows_have_its_number(large: Store) -> None:
    asked: list[str] = []

    def saw(_: apsw.Cursor, sql: str, _bindings: apsw.Bindings | None) -> bool:
        asked.append(sql)
        return True

    large.read(lambda conn: setattr(conn, "exec_trace", saw))
    assert len(hybrid_search(large, "aileron buzz", alpha=0, limit_rows=2).hits) == 2
    assert sum("JOIN nodes" in sql and "json_each(?)" in sql for sql in asked) == 1, asked
    assert not any("f.node_id" in sql for sql in asked)


def test_more_matches_than_are_looked_at_first_are_looked_at_where_a_filter_keeps_the_best_out(
    large: Store,
) -> None:
    remember(large, *(NodeDraft(f"rudder rudder {n}", tier=Tier.ARCHIVE) for n in range(15)))
    [wanted] = remember(large, "one rudder among many other words in a longer text")
    answer = hybrid_search(large, "rudder", alpha=0, limit_rows=1)
    assert [hit.row.id for hit in answer.hits] == [wanted]
