"""In how many memories a word stands: exact in small stores and for rare words, a fair estimate beyond."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.search import word_counts
from tierdeck.search.word_counts import WordCounts
from tierdeck.store import Store

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
