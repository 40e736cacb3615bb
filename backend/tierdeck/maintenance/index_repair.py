"""What can be mended in the index file alone: the store is only read, so no backup of it is needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from tierdeck import db
from tierdeck.index.file import index_errors, open_for_reading, open_for_writing
from tierdeck.index.path import index_path
from tierdeck.store import Store
from tierdeck.terms.fill import rebuild_terms, rebuild_words
from tierdeck.terms.term_table import ROWS
from tierdeck.terms.vocabulary import VOCABULARY


def _rebuild_bits(store: Store) -> str:
    # Here, not above: numpy is loaded only where it is needed.
    from tierdeck.vectors.bit_check import rebuild_bits
    from tierdeck.vectors.model_record import current_model

    path = index_path(store)
    if not path.exists():
        return "nothing: there is no index file"
    with closing(open_for_writing(store)) as conn, index_errors(path), db.transaction(conn):
        model = current_model(conn)
        if model is None:
            return "nothing: there is no vector"
        rebuild_bits(conn, model)
        chunks = conn.execute("SELECT count(*) FROM bit_chunk").get
        return f"the bits of the vectors in {chunks:,} chunk{'' if chunks == 1 else 's'} were made anew"


def _rebuild_terms(store: Store) -> str:
    if not index_path(store).exists():
        return "nothing: there is no index file"
    rebuild_terms(store)
    rows = _count(store, ROWS)
    return f"the extra terms of {rows:,} memor{'y' if rows == 1 else 'ies'} were made anew"


def _rebuild_words(store: Store) -> str:
    if not index_path(store).exists():
        return "nothing: there is no index file"
    rebuild_words(store)
    return f"{_count(store, VOCABULARY):,} words were taken in anew"


def _count(store: Store, table: str) -> int:
    conn = open_for_reading(store)
    if conn is None:  # removed meanwhile
        return 0
    with closing(conn), index_errors(index_path(store)):
        return int(conn.execute(f"SELECT count(*) FROM {table}").get)


INDEX_REPAIRS: dict[str, Callable[[Store], str]] = {
    "vector-bits": _rebuild_bits,
    "extra-terms": _rebuild_terms,
    "word-list": _rebuild_words,
}
"""By the name of its check."""
