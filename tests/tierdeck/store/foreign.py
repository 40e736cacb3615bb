"""A store as a careless program leaves it: the family's tables without their checks, and what a test puts in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.family import FAMILY_SCHEMA

# Without CHECK and NOT NULL: SQLite keeps what it is given.
LOOSE_SCHEMA = (
    FAMILY_SCHEMA.replace("CHECK(type IN ('entity', 'fact', 'experience', 'decision', 'snippet'))", "")
    .replace("CHECK(tier IN ('task', 'session', 'longterm', 'archive'))", "")
    .replace("CHECK(confidence >= 0.0 AND confidence <= 1.0)", "")
    .replace("CHECK(type IN ('relation', 'composition', 'causation', 'context'))", "")
    .replace("CHECK(weight >= 0.0)", "")
    .replace(" type TEXT NOT NULL", " type TEXT")
    .replace("content TEXT NOT NULL", "content TEXT")
)


def make_foreign_store(path: Path, rows: list[dict[str, object]], schema: str = LOOSE_SCHEMA) -> None:
    """A closed store with one memory for each dict of columns; `text:<column>` gives a text by its bytes."""
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(schema)
        for row in rows:
            names = [name.removeprefix("text:") for name in row]
            marks = ["CAST(? AS TEXT)" if name.startswith("text:") else "?" for name in row]
            conn.execute(f"INSERT INTO nodes ({', '.join(names)}) VALUES ({', '.join(marks)})", tuple(row.values()))
        conn.commit()
