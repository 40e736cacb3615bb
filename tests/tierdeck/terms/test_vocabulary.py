"""The list of a store's words: read from its full-text index, kept in step with the store's size."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.index.file import open_for_writing
from tierdeck.index.store_texts import last_change
from tierdeck.store import Store
from tierdeck.terms.fill import fill_terms
from tierdeck.terms.vocabulary import empty_vocabulary, word_rows, words_of_index


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


def test_words_that_an_older_version_took_in_without_a_change_number_are_taken_in_anew(store: Store) -> None:
    remember(store, "redis", "redis mysql")
    fill_terms(store)
    with closing(open_for_writing(store)) as conn:
        conn.execute("DELETE FROM index_setting WHERE key = 'vocabulary_seq'")
        assert word_rows(conn, ["redi"]).rows == {}
    fill_terms(store)
    with closing(open_for_writing(store)) as conn:
        known = word_rows(conn, ["redi", "mysql", "zzz"])
    assert known.rows == {"redi": 2, "mysql": 1}
    assert (known.seen_seq, known.seen_mark) == last_change(store)


def test_words_of_a_purged_index_are_not_known(store: Store) -> None:
    remember(store, "redis")
    fill_terms(store)
    with closing(open_for_writing(store)) as conn:
        empty_vocabulary(conn)
        assert word_rows(conn, ["redi"]).rows == {}
