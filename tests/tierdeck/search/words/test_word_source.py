"""The full-text index asked: the best of a filter, the exact score of any memory, and nothing that is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeDraft, NodeFilter, Tier
from tierdeck.search.query.fts import Match, match_words
from tierdeck.search.rows.condition import condition_of
from tierdeck.search.words.word_hit import WordHit
from tierdeck.search.words.word_source import WordSource
from tierdeck.store import Store

T = TypeVar("T")


def ask(store: Store, look: Callable[[WordSource], T]) -> T:
    return store.read(lambda conn: look(WordSource(conn)))


def best(store: Store, text: str, rows: int = 10, node_filter: NodeFilter | None = None) -> list[str]:
    condition = condition_of(store, node_filter or NodeFilter())
    return ask(store, lambda words: words.best(text, condition, rows))


def hits(store: Store, match: Match, ids: list[str]) -> dict[str, WordHit]:
    return ask(store, lambda words: words.hits(match, ids))


def test_the_best_matches_come_first_and_no_more_than_asked(store: Store) -> None:
    few, many, _ = remember(store, "redis x y z", "redis redis y z", "other words here too")
    assert best(store, '"redis"') == [many, few]
    assert best(store, '"redis"', rows=1) == [many]


def test_the_filter_acts_before_the_cut(store: Store) -> None:
    remember(store, *(NodeDraft(f"redis redis {n}") for n in range(300)))
    [wanted] = remember(store, NodeDraft("redis among many other words", tier=Tier.LONGTERM))
    assert best(store, '"redis"', rows=1, node_filter=NodeFilter(tiers=frozenset({Tier.LONGTERM}))) == [wanted]


def test_archived_memories_are_not_among_the_best_unless_asked(store: Store) -> None:
    [archived] = remember(store, NodeDraft("redis", tier=Tier.ARCHIVE))
    assert best(store, '"redis"') == []
    assert best(store, '"redis"', node_filter=NodeFilter(include_archived=True)) == [archived]


def test_every_memory_gets_its_exact_score_and_the_words_that_stand_in_it(store: Store) -> None:
    a, b, c = remember(store, "redis cache layer", "redis redis", "nothing of it")
    match = match_words(["cache", "redis", "zzz"], picking=[0, 1, 2])
    found = hits(store, match, [a, b, c])
    assert {node_id: set(hit.words) for node_id, hit in found.items()} == {a: {0, 1}, b: {1}}
    assert all(hit.bm25 > 0 and hit.asked == 3 for hit in found.values())


def test_more_than_sixty_four_phrases_are_told_apart(store: Store) -> None:
    [node] = remember(store, "w70 w3")
    match = match_words([f"w{n}" for n in range(80)], picking=range(80))
    assert hits(store, match, [node])[node].words == {3, 70}


def test_a_full_text_row_that_outlived_its_memory_is_never_shown(store: Store) -> None:
    gone, stays = remember(store, "redis a", "redis b")
    with store.writing() as conn:
        conn.execute("DROP TRIGGER nodes_fts_delete")
        conn.execute("DELETE FROM nodes WHERE id = ?", (gone,))
    assert best(store, '"redis"') == [stays]


def test_renumbered_full_text_rows_still_find_their_memories(store: Store) -> None:
    a, b, c = remember(store, "redis one", "mysql two", "redis three and more words")
    with store.writing() as conn:
        rows = conn.execute("SELECT node_id, content, type FROM content_fts ORDER BY rowid DESC").fetchall()
        conn.execute("DELETE FROM content_fts")
        conn.executemany("INSERT INTO content_fts (node_id, content, type) VALUES (?, ?, ?)", rows)
    assert best(store, '"redis"') == [a, c]
    found = hits(store, match_words(["redis", "mysql"], picking=[0, 1]), [a, b, c])
    assert {node_id: hit.words for node_id, hit in found.items()} == {a: {0}, b: {1}, c: {0}}


def test_two_full_text_rows_of_one_memory_are_one_hit(store: Store) -> None:
    [a] = remember(store, "redis one")
    with store.writing() as conn:
        conn.execute("INSERT INTO content_fts (node_id, content, type) VALUES (?, 'redis redis', 'fact')", (a,))
    assert best(store, '"redis"') == [a]


@pytest.mark.case("D07")
def test_words_of_a_text_that_was_changed_or_deleted_find_nothing(store: Store) -> None:
    [node] = remember(store, "blue")
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET content = 'green' WHERE id = ?", (node,))
    assert best(store, '"blue"') == []
    assert best(store, '"green"') == [node]
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (node,))
    assert best(store, '"green"') == []


def test_an_excluded_word_keeps_a_memory_out_and_a_row_without_an_id_changes_nothing(store: Store) -> None:
    a, _ = remember(store, "redis plain", "redis cluster")
    with store.writing() as conn:
        conn.execute("INSERT INTO content_fts (node_id, content, type) VALUES (NULL, 'cluster', 'fact')")
    condition = condition_of(store, NodeFilter(), ["cluster"])
    assert ask(store, lambda words: words.best('"redis"', condition, 10)) == [a]
