"""What no move may touch, read raw from a store and its index: every byte, whether or not it is UTF-8."""

from __future__ import annotations

from contextlib import closing
from hashlib import blake2b

import apsw

from tierdeck.index.path import beside_index_path
from tierdeck.store import Store

Rows = list[tuple[object, ...]]


def lasting(store: Store) -> dict[str, Rows]:
    """Every row of the family's tables but for the tier and the log of moves, byte for byte."""
    tables = ("nodes", "hyperedges", "membership", "confidence_updates")
    return store.read(lambda conn: {table: _rows(conn, table, but="tier") for table in tables})


def shadow_digest(store: Store) -> str:
    """A digest over every row of the full-text and vector tables' own tables, in the store and in its index."""
    found = store.read(_shadow_rows)
    index = beside_index_path(store.path)
    if index.exists():
        with closing(apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)) as conn:
            found |= _shadow_rows(conn)
    return blake2b(repr(sorted(found.items())).encode()).hexdigest()


def _shadow_rows(conn: apsw.Connection) -> dict[str, Rows]:
    listed = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    virtual = [str(name) for name, sql in listed if str(sql).upper().startswith("CREATE VIRTUAL")]
    shadows = [str(name) for name, _ in listed if any(str(name).startswith(f"{table}_") for table in virtual)]
    return {name: _rows(conn, name) for name in shadows}


def _rows(conn: apsw.Connection, table: str, *, but: str | None = None) -> Rows:
    columns = [str(row[1]) for row in conn.execute(f'PRAGMA table_info("{table}")')]
    kept = ", ".join(f'typeof("{c}"), CAST("{c}" AS BLOB)' for c in columns if c != but)
    return conn.execute(f'SELECT {kept} FROM "{table}" ORDER BY 1, 2, 3, 4').fetchall()
