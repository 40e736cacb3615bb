"""Damage that SQLite itself does not complain about, done to closed stores as a broken disk would leave it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def empty_text(path: Path, node_id: str) -> None:
    """Make a memory's text NULL, which its column forbids; a page of zeros reads as rows of that kind."""
    with closing(sqlite3.connect(path)) as conn:
        _edit_schema(conn, "sql = replace(sql, 'content TEXT NOT NULL', 'content TEXT          ')", "nodes")
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("UPDATE nodes SET content = NULL WHERE id = ?", (node_id,))
        conn.commit()
        _edit_schema(conn, "sql = replace(sql, 'content TEXT          ', 'content TEXT NOT NULL')", "nodes")


def lose_row(path: Path, node_id: str, index: str) -> None:
    """Take a memory's row away while the index still lists it."""
    with closing(sqlite3.connect(path)) as conn:
        kept = conn.execute("SELECT * FROM sqlite_master WHERE name = ?", (index,)).fetchone()
        conn.execute("PRAGMA writable_schema = ON")
        conn.execute("DELETE FROM sqlite_master WHERE name = ?", (index,))
        conn.commit()
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", (node_id,))
        conn.execute("PRAGMA writable_schema = ON")
        conn.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", kept)
        conn.commit()


def _edit_schema(conn: sqlite3.Connection, change: str, table: str) -> None:
    conn.execute("PRAGMA writable_schema = ON")
    done = conn.execute(f"UPDATE sqlite_master SET {change} WHERE name = ?", (table,))
    assert done.rowcount == 1
    conn.commit()
