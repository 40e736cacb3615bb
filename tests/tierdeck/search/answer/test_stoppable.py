"""A search that nobody waits for any more ends, and leaves the connection as it was."""

from __future__ import annotations

import apsw
import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.errors import StoppedError
from tierdeck.search import hybrid_search
from tierdeck.search.answer.stoppable import stoppable
from tierdeck.store import Store

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_an_endless_query_ends_when_it_is_stopped(store: Store) -> None:
    asked = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 10

    with pytest.raises(StoppedError):
        store.read(stoppable(lambda conn: conn.execute(ENDLESS).fetchall(), should_stop))


def test_the_next_search_on_the_same_connection_is_not_stopped(store: Store) -> None:
    remember(store, "redis")
    with pytest.raises(StoppedError):
        hybrid_search(store, "redis", alpha=0, should_stop=lambda: True)
    assert len(hybrid_search(store, "redis", alpha=0).hits) == 1


def test_a_search_that_is_not_stopped_gives_its_answer(store: Store) -> None:
    remember(store, "redis")
    assert len(hybrid_search(store, "redis", alpha=0, should_stop=lambda: False).hits) == 1
    assert len(hybrid_search(store, "", should_stop=lambda: False).hits) == 1


def test_an_error_of_its_own_passes_through(store: Store) -> None:
    def look(conn: apsw.Connection) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        store.read(stoppable(look, lambda: False))
