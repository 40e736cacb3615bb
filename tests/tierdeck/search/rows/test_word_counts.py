"""In how many memories a word stands: exact in small stores and for rare words, a fair estimate beyond."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.search.rows import word_counts
from tierdeck.search.rows.word_counts import WordCounts
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms
from tierdeck.terms.term_index import terms_of

T = TypeVar("T")


def ask(store: Store, rows: int, look: Callable[[WordCounts], T]) -> T:
    return store.read(lambda conn: look(WordCounts(conn, rows)))


def test_counting_stops_at_its_limit(store: Store) -> None:
    remember(store, *(f"redis {n}" for n in range(30)))
    assert ask(store, 30, lambda counts: counts.rows_of_word("redis", 10)) == 10
    assert ask(store, 30, lambda counts: counts.rows_of_word("redis", 100)) == 30
    assert ask(store, 30, lambda counts: counts.rows_of_word("zzz", 100)) == 0


def test_a_common_word_of_a_large_store_is_estimated_and_a_rare_one_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", 100)
    monkeypatch.setattr(word_counts, "MAX_EXACT_ROWS", 20)
    remember(store, *(f"{'redis' if n % 2 else 'mysql'} {'rare' if n < 5 else ''}" for n in range(800)))
    assert ask(store, 800, lambda counts: counts.rows_of_word("rare", 800)) == 5
    assert ask(store, 800, lambda counts: counts.rows_of_word("redis", 800)) == pytest.approx(400, rel=0.2)
    assert ask(store, 800, lambda counts: counts.rows_of_word("redis", 50)) == 50


def learned(store: Store, rows: int, *words: str) -> list[int]:
    """How often the words stand, when what the list of words knows was taken in first."""
    index = terms_of(store)
    assert index is not None

    def look(counts: WordCounts) -> list[int]:
        counts.learn(index, {word: (word,) for word in words})
        return [counts.rows_of_word(word, rows) for word in words]

    return ask(store, rows, look)


def test_a_common_word_is_taken_from_the_list_of_words_while_few_memories_have_changed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", 100)
    monkeypatch.setattr(word_counts, "MAX_EXACT_ROWS", 20)
    remember(store, *(f"{'common' if n % 7 else 'mysql'} {'rare' if n < 5 else ''}" for n in range(700)))
    fill_terms(store)
    assert learned(store, 700, "common", "mysql", "rare", "zzz") == [600, 100, 5, 0]
    remember(store, "common rare mysql", "common rare mysql")
    common, mysql, rare = learned(store, 702, "common", "mysql", "rare")
    assert common == 600, "two changes are little beside 600"
    assert mysql == pytest.approx(100, rel=0.4), "they are not beside 100"
    assert mysql != 100
    assert rare == 7, "what can be counted is"


def test_the_list_of_words_is_not_taken_from_another_history_of_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", 100)
    remember(store, *(f"common {n}" for n in range(300)))
    fill_terms(store)
    with store.writing() as conn:  # as a backup of before would look
        conn.execute("DELETE FROM nodes WHERE rowid > 200")
        conn.execute("DELETE FROM td_change WHERE seq > 200")
    assert learned(store, 200, "common") == [200]
