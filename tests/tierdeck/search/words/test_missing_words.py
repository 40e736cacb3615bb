"""A search that finds too little says which words stand nowhere, and what may have been meant."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.model import NodeDraft, Tier
from tierdeck.search import MissingWord, hybrid_search
from tierdeck.search.answer.hit import HiddenByFilter
from tierdeck.search.words import missing_words
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms


def missing(store: Store, text: str, *, is_typing: bool = False) -> tuple[MissingWord, ...]:
    return hybrid_search(store, text, alpha=0, is_typing=is_typing).missing


def test_a_word_that_stands_nowhere_is_named_with_the_nearest_as_it_is_written(store: Store) -> None:
    remember(store, "Configurations of the deploys", "redis caches")
    assert missing(store, "redis confgurations") == (MissingWord("confgurations", ("configurations",)),)
    fill_terms(store)
    assert missing(store, "redis confgurations") == (MissingWord("confgurations", ("configurations",)),)


def test_a_word_of_any_memory_is_not_missing_though_a_filter_hides_it(store: Store) -> None:
    remember(store, NodeDraft("redis caches", tier=Tier.ARCHIVE), "mysql")
    answer = hybrid_search(store, "redis", alpha=0)
    assert answer.hits == ()
    assert answer.missing == ()
    assert answer.hidden == (HiddenByFilter("is:archived", 1),)


def test_a_part_of_a_name_is_not_missing(store: Store) -> None:
    remember(store, "getCheckoutId")
    assert missing(store, "checkout") == ()


def test_the_word_that_is_being_typed_is_not_called_missing(store: Store) -> None:
    remember(store, "redis caches")
    assert missing(store, "redis cach", is_typing=True) == ()
    assert missing(store, "redsi cach", is_typing=True) == (MissingWord("redsi", ("redis",)),)


def test_without_an_index_the_words_of_a_large_store_are_not_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(store, "redis caches", "mysql")
    monkeypatch.setattr(missing_words, "MAX_LIVE_ROWS", 1)
    assert missing(store, "redsi") == (MissingWord("redsi"),)


def test_a_full_answer_names_no_missing_word(store: Store) -> None:
    remember(store, *(f"redis {n}" for n in range(30)))
    assert hybrid_search(store, "redis zzzz", alpha=0, limit_rows=10).missing == ()
