"""The extra terms read: which memories may hold a piece of a query, and how far the index follows the store."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from weakref import WeakKeyDictionary

import apsw

from tierdeck.errors import EmbeddingError, IndexFileError
from tierdeck.index.file import index_errors, open_for_reading
from tierdeck.index.path import FileKey, file_key, index_path
from tierdeck.store import Store
from tierdeck.terms.term_table import ROWS, TERMS, TermProgress, has_terms, read_progress
from tierdeck.terms.vocabulary import WordRows, has_vocabulary, word_rows, words_from, words_with_prefix

_open: WeakKeyDictionary[Store, tuple[FileKey, TermIndex]] = WeakKeyDictionary()
_open_lock = threading.Lock()


def terms_of(store: Store) -> TermIndex | None:
    """The store's extra terms, opened once and closed with the store; None when there are none, or none of use.

    Nothing is raised: without them texts are looked into directly, and the meaning side and `doctor` say what is
    wrong with the file. No index file is made or copied for them.
    """
    with _open_lock:
        key = file_key(index_path(store))
        known = _open.get(store)
        if known is not None and known[0] == key:
            return known[1]
        if known is not None:  # the file was made anew
            del _open[store]
            known[1].close()
        index = None if key is None else _opened(store)
        if key is not None and index is not None:
            _open[store] = (key, index)
            store.when_closed(index.close)
        return index


def _opened(store: Store) -> TermIndex | None:
    try:
        conn = open_for_reading(store)
        if conn is None:
            return None
        with index_errors(index_path(store)):
            if has_terms(conn):
                return TermIndex(conn, store)
    except (IndexFileError, EmbeddingError):
        return None
    conn.close()
    return None


class TermIndex:
    """The extra terms of one store. Safe to use from threads; what an indexer commits is seen at the next call."""

    def __init__(self, conn: apsw.Connection, store: Store) -> None:
        self._conn = conn
        self._path = index_path(store)
        self._lock = threading.Lock()

    def progress(self) -> TermProgress:
        """How far the terms follow the store."""
        with self._lock, index_errors(self._path):
            return read_progress(self._conn)

    def rows(self, expression: str, limit_rows: int, below: int = (1 << 63) - 1) -> list[int]:
        """The rowids in `nodes` of memories with those terms, newest first, lower than `below`."""
        with self._lock, index_errors(self._path):
            found = self._conn.execute(
                f"SELECT rowid FROM {TERMS} WHERE {TERMS} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
                (expression, below, limit_rows),
            )
            return [int(row[0]) for row in found]

    def partial_rows(self) -> list[int]:
        """The rowids in `nodes` of memories so long that not all of their terms are kept."""
        with self._lock, index_errors(self._path):
            return [int(row[0]) for row in self._conn.execute(f"SELECT n FROM {ROWS} WHERE is_partial")]

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """The most frequent words that begin so, as the full-text index keeps them; empty when not known."""
        with self._lock, index_errors(self._path):
            return words_with_prefix(self._conn, prefix, limit) if has_vocabulary(self._conn) else []

    def word_rows(self, words: Iterable[str]) -> WordRows:
        """In how many rows words of the full-text index stood, and as of which change; none when not known."""
        with self._lock, index_errors(self._path):
            return word_rows(self._conn, words) if has_vocabulary(self._conn) else WordRows({})

    def words_from(self, first: str, limit: int) -> list[tuple[str, int]]:
        """The words in their order from one on, as the full-text index keeps them; empty when not known."""
        with self._lock, index_errors(self._path):
            return words_from(self._conn, first, limit) if has_vocabulary(self._conn) else []

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        with self._lock:
            self._conn.close()
