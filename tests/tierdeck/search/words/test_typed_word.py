"""While a word is typed each of its beginnings finds what the whole word finds, though only stems are kept."""

from __future__ import annotations

import pytest

from tests.tierdeck.search.memories import remember, texts
from tierdeck.search import hybrid_search
from tierdeck.search.rows import word_counts
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms

TEXTS = ("the generalization of it", "idempotency keys", "relational tables", "analysis of redis")


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize(
    ("word", "found"),
    [("generalization", TEXTS[0]), ("idempotency", TEXTS[1]), ("relational", TEXTS[2]), ("analysis", TEXTS[3])],
)
def test_each_beginning_of_a_word_finds_the_memory(
    store: Store, monkeypatch: pytest.MonkeyPatch, word: str, found: str, is_large: bool
) -> None:
    remember(store, *TEXTS)
    if is_large:
        fill_terms(store)
        monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", 1)
    for chars in range(3, len(word) + 1):
        answer = hybrid_search(store, word[:chars], alpha=0, is_typing=True)
        assert texts(answer) == [found], word[:chars]
        assert answer.hits[0].matches, "what matched is marked"


def test_the_words_before_still_narrow(store: Store) -> None:
    remember(store, "generalization of redis", "generalization of mysql")
    answer = hybrid_search(store, "mysql generaliza", alpha=0, is_typing=True, limit_rows=1)
    assert texts(answer) == ["generalization of mysql"]


def test_a_beginning_of_no_word_is_not_taken_for_another_word_of_the_stem(store: Store) -> None:
    remember(store, "general questions")
    assert hybrid_search(store, "generaliz", alpha=0, is_typing=True).hits == ()


def test_a_whole_word_is_looked_for_as_it_stands(store: Store) -> None:
    remember(store, "generalization")
    assert hybrid_search(store, "generaliza", alpha=0).hits == ()


def test_a_name_of_many_parts_is_found_inside_a_longer_one_while_it_is_typed(store: Store) -> None:
    remember(store, "myGetShippingMethodIdFromOrder is slow")
    fill_terms(store)
    for typed in ("getShippingMethodIdFromOrder", "getShippingMethodIdFromOrd", "getShippingMethodIdFr"):
        assert len(hybrid_search(store, typed, alpha=0, is_typing=True).hits) == 1, typed
