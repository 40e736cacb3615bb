"""Of mistyped words those that were meant are offered: seeded typos of words of a small store, counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.search import hybrid_search
from tierdeck.search.words import near_written
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms

TEXTS = (
    "The migration of the ordering service is postponed until the rollback procedure has been rehearsed",
    "Idempotency keys make retrying a payment harmless; without idempotency the customer was charged twice",
    "Operational dashboards show latency, consistency and the frequency of failed deployments",
    "We decided against sharding because computational costs of rebalancing dominated everything else",
    "Caching of translated templates reduced rendering times, invalidation stays the complicated part",
    "International customers complained about rational numbers being rounded in their statements",
    "Authentication tokens are rotated weekly, and authorisation decisions are logged separately",
    "Scheduling of nightly backups conflicted with the vacuuming of overgrown tables",
    "Dependency updates are reviewed, grouped and merged automatically when the pipeline succeeded",
    "Connection pooling was misconfigured: exhausted workers kept waiting for abandoned transactions",
    "Feature flags that nobody touched for months are listed, questioned and removed quarterly",
    "Observability improved once correlated identifiers travelled through every queue and processor",
)
SUFFIXED = ("ing", "ed", "ency", "ational", "ation", "ity")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def deleted(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    return word[:at] + word[at + 1 :]


def inserted(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    return word[:at] + random.choice(LETTERS) + word[at:]


def replaced(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    return word[:at] + random.choice(LETTERS) + word[at + 1 :]


def transposed(word: str, random: Random) -> str:
    at = random.randrange(len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


KINDS: tuple[Callable[[str, Random], str], ...] = (deleted, inserted, replaced, transposed)


def typos(
    count: int, *, edits: int = 1, is_chosen: Callable[[str], bool] = lambda _: True
) -> list[tuple[str, str]]:
    """Words of the texts, each with something typed instead that is none of them."""
    random = Random(11)
    words = sorted({word for text in TEXTS for word in re.findall("[a-z]{6,}", text.lower())})
    chosen = [word for word in words if is_chosen(word)]
    made: list[tuple[str, str]] = []
    while len(made) < count:
        typed = word = random.choice(chosen)
        for nth in range(edits):
            typed = KINDS[(len(made) + nth) % len(KINDS)](typed, random)
        if typed not in words:
            made.append((word, typed))
    return made


def part_offered(store: Store, mistyped: list[tuple[str, str]]) -> float:
    """Of those that find nothing, how many are answered with the word that was meant."""
    near = [
        (word, answer.missing[0].near)
        for word, typed in mistyped
        if (answer := hybrid_search(store, typed, alpha=0)).missing
    ]
    assert len(near) > 0.9 * len(mistyped)
    return sum(word in words for word, words in near) / len(near)


@pytest.fixture
def filled(store: Store) -> Store:
    remember(store, *TEXTS)
    return store


@pytest.mark.parametrize("has_index", [False, True])
def test_of_single_slips_all_but_a_few_bring_up_the_word_that_was_meant(filled: Store, has_index: bool) -> None:
    if has_index:
        fill_terms(filled)
    assert part_offered(filled, typos(60)) >= 0.97
    assert part_offered(filled, typos(60, is_chosen=lambda word: word.endswith(SUFFIXED))) >= 0.97


@pytest.mark.parametrize("has_index", [False, True])
def test_of_double_slips_most_do(filled: Store, has_index: bool) -> None:
    if has_index:
        fill_terms(filled)
    assert part_offered(filled, typos(60, edits=2, is_chosen=lambda word: len(word) > 7)) >= 0.8


def test_without_an_index_a_large_store_knows_single_slips_only(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_written, "MAX_LIVE_ROWS", 1)
    assert part_offered(filled, typos(30)) >= 0.95
    assert part_offered(filled, [("idempotency", "idemptncy")]) == 0
    fill_terms(filled)
    assert part_offered(filled, [("idempotency", "idemptncy")]) == 1
