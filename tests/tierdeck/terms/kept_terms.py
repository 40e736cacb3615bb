"""What the index of extra terms holds, to compare with what another way of making it would hold."""

from __future__ import annotations

from contextlib import closing
from typing import cast

from tierdeck.index.file import open_for_reading
from tierdeck.store import Store

Rows = dict[int, tuple[bytes, tuple[str, ...]]]


def kept_terms(store: Store) -> Rows:
    """Every memory that the index knows, with the hash of its text and all terms."""
    conn = open_for_reading(store)
    assert conn is not None
    with closing(conn):
        hashes = conn.execute("SELECT n, text_hash FROM term_row").fetchall()
        conn.pragma("query_only", False)
        conn.execute("CREATE VIRTUAL TABLE temp.held USING fts5vocab('main', 'extra_terms', 'instance')")
        held: dict[int, list[str]] = {}
        for term, n in conn.execute("SELECT term, doc FROM temp.held ORDER BY term"):
            held.setdefault(int(str(n)), []).append(str(term))
        return {int(str(n)): (cast("bytes", digest), tuple(held.get(int(str(n)), ()))) for n, digest in hashes}
