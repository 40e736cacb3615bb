"""Stores in every state that a search meets: own and another program's, small and large, without and with terms."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.search import SearchAnswer, hybrid_search
from tierdeck.search.rows import word_counts
from tierdeck.store import Store, open_store
from tierdeck.terms.fill import fill_terms

Ask = Callable[[Sequence[str], str], SearchAnswer]
_STATES = list(product(("own", "family"), ("small", "large"), ("looked into", "with terms")))


@pytest.fixture(params=_STATES, ids=[", ".join(state) for state in _STATES])
def ask(
    request: pytest.FixtureRequest, store: Store, family_store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Ask]:
    """Asks a store that holds these memories, among others, by words alone."""
    whose, size, state = request.param
    if size == "large":
        monkeypatch.setattr(word_counts, "LARGE_FROM_ROWS", 1)
    with ExitStack() as opened:

        def answer(memories: Sequence[str], text: str) -> SearchAnswer:
            if whose == "own":
                asked = store
                remember(store, *memories)
            else:
                _remember_elsewhere(family_store_path, memories)
                asked = opened.enter_context(open_store(family_store_path))
            if state == "with terms":
                fill_terms(asked)
            return hybrid_search(asked, text, alpha=0)

        yield answer


def _remember_elsewhere(path: Path, memories: Sequence[str]) -> None:
    conn = sqlite3.connect(path)
    try:
        rows = [(f"theirs-{number}", text) for number, text in enumerate(memories)]
        conn.executemany("INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)", rows)
        conn.commit()
    finally:
        conn.close()
