"""The list of a store's words: read from its full-text index, kept in step with the store's size."""

from __future__ import annotations

import apsw
import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.store import Store
from tierdeck.terms.vocabulary import words_of_index


def test_a_look_that_was_interrupted_does_not_end_as_a_store_without_words(store: Store) -> None:
    remember(store, *(f"redis w{n}" for n in range(2_000)))

    def look(conn: apsw.Connection) -> list[tuple[str, int]]:
        conn.set_progress_handler(lambda: True, 1_000)
        try:
            with pytest.raises(apsw.InterruptError):
                words_of_index(conn)
        finally:
            conn.set_progress_handler(None)
        assert conn.pragma("query_only")
        return words_of_index(conn)

    assert store.read(look)[0] == ("redi", 2_000)


def test_a_store_whose_full_text_index_is_gone_has_no_words(store: Store) -> None:
    remember(store, "redis")
    with store.writing() as conn:
        conn.execute("DROP TABLE content_fts")
    assert store.read(words_of_index) == []
