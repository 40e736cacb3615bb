"""What a backup says of itself: when it was made, how many rows it held, and a digest over all of them.

SQLite keeps no checksum of what stands in a row, so a flipped bit inside a text passes its integrity check; the
digest does not let it pass. The manifest is one row of `td_setting` inside the copy, so that a backup stays one
file; a store without our tables gets none.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import apsw

from tierdeck.store.raw_row import RawValue, UndecodedText, raw_rows, table_columns
from tierdeck.store.rows import quoted_name

MANIFEST_KEY = "backup_manifest"
_HAS_ROWID = "SELECT wr = 0 FROM pragma_table_list WHERE schema = 'main' AND name = ?"


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup held when it was made; `digest` is BLAKE2b-256 over every row, hex."""

    made_at_ms: int
    rows: Mapping[str, int]
    digest: str


def take_manifest(conn: apsw.Connection, made_at_ms: int) -> Manifest:
    """Count and digest every table of the family's and of ours that the connection sees."""
    digest = blake2b(digest_size=32)
    rows = {}
    for table in _data_tables(conn):
        digest.update(table.encode() + b"\x00")
        rows[table] = _digest_table(conn, table, digest)
    return Manifest(made_at_ms, rows, digest.hexdigest())


def write_manifest(conn: apsw.Connection, manifest: Manifest) -> None:
    """Keep the manifest inside the copy it tells of."""
    text = json.dumps({"made_at": manifest.made_at_ms, "rows": dict(manifest.rows), "digest": manifest.digest})
    conn.execute("INSERT OR REPLACE INTO td_setting (key, value) VALUES (?, ?)", (MANIFEST_KEY, text))


def drop_manifest(conn: apsw.Connection) -> None:
    """Take the manifest out: a restored store is a store, no longer a backup."""
    if table_columns(conn, "td_setting"):
        conn.execute("DELETE FROM td_setting WHERE key = ?", (MANIFEST_KEY,))


def read_manifest(conn: apsw.Connection) -> Manifest | None:
    """The manifest inside a backup; None when it has none or what stands there is no manifest."""
    if not table_columns(conn, "td_setting"):
        return None
    row = conn.execute("SELECT value FROM td_setting WHERE key = ?", (MANIFEST_KEY,)).fetchone()
    try:
        found = json.loads(row[0]) if row else {}
        return Manifest(int(found["made_at"]), dict(found["rows"]), str(found["digest"]))
    except (KeyError, TypeError, ValueError):
        return None


def _data_tables(conn: apsw.Connection) -> list[str]:
    """The tables that hold data, by name: not SQLite's own, not the full-text index and its parts."""
    found = conn.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' "
        "AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'content_fts_*' ORDER BY name"
    )
    return [str(row[0]) for row in found]


def count_rows(conn: apsw.Connection) -> dict[str, int]:
    """How many rows each of them has."""
    return {t: int(conn.execute(f"SELECT count(*) FROM {quoted_name(t)}").get) for t in _data_tables(conn)}


def _digest_table(conn: apsw.Connection, table: str, digest: _Digest) -> int:
    columns = table_columns(conn, table)
    has_rowid = bool(conn.execute(_HAS_ROWID, (table,)).get)
    count = 0
    for row in raw_rows(conn, table, columns, key="rowid" if has_rowid else quoted_name(columns[0])):
        if table == "td_setting" and row[1] == MANIFEST_KEY:
            continue
        count += 1
        # Not the key: a rowid is no content, and VACUUM renumbers those that no column names.
        for value in row[1:]:
            digest.update(_tagged(value))
    return count


def _tagged(value: RawValue) -> bytes:
    """A value with its type and length, so that no two different rows run together into the same bytes."""
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"i%d;" % value
    if isinstance(value, float):
        return b"f" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return b"b%d;" % len(value) + value
    data = value.data if isinstance(value, UndecodedText) else value.encode("utf-8")
    return b"t%d;" % len(data) + data
