"""What no move may touch, read raw from a store and its index by Python's own sqlite3."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

from tierdeck.embed.index_path import beside_index_path
from tierdeck.store import Store


def lasting(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the family's tables but for the tier and the log of moves, byte for byte."""
    with closing(sqlite3.connect(f"file:{store.path}?mode=ro", uri=True)) as conn:
        conn.text_factory = bytes
        columns = [str(row[1], "utf-8") for row in conn.execute("PRAGMA table_info(nodes)")]
        kept = ", ".join(f"typeof({name}), {name}" for name in columns if name != "tier")
        tables = {"nodes": f"SELECT {kept} FROM nodes ORDER BY id"}
        for table in ("hyperedges", "membership", "confidence_updates"):
            tables[table] = f"SELECT * FROM {table} ORDER BY 1, 2"
        return {table: conn.execute(sql).fetchall() for table, sql in tables.items()}


def shadow_digest(store: Store) -> str:
    """A digest over every row of the full-text and vector tables' own tables, in the store and in its index."""
    found = blake2b()
    for path in (store.path, beside_index_path(store.path)):
        if path.exists():
            _digest_into(found, path)
    return found.hexdigest()


def _digest_into(found: blake2b, path: Path) -> None:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as conn:
        conn.text_factory = bytes
        rows = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        virtual = [name for name, sql in rows if sql.upper().startswith(b"CREATE VIRTUAL")]
        for name, _ in rows:
            if any(name.startswith(table + b"_") for table in virtual):
                found.update(name)
                for row in conn.execute(f'SELECT * FROM "{name.decode()}" ORDER BY 1'):
                    found.update(repr(row).encode())
