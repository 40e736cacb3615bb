"""A row as JSON and back."""

from __future__ import annotations

import json

import apsw
import pytest

from tierdeck.store import snapshots
from tierdeck.store.rows import SQLValue, quoted_name

COLUMNS = ("id", "content", 'a "quoted" name', "last_accessed", "access_count", "embedding")


@pytest.fixture
def conn() -> apsw.Connection:
    conn = apsw.Connection(":memory:")
    conn.execute(f"CREATE TABLE nodes ({', '.join(map(quoted_name, COLUMNS))})")
    conn.execute("INSERT INTO nodes (id) VALUES ('a'), ('b')")
    return conn


def storage(conn: apsw.Connection) -> list[object]:
    """Each value of both rows with its storage class and bytes."""
    columns = ", ".join(f"typeof({n}), hex(CAST({n} AS BLOB))" for n in map(quoted_name, COLUMNS))
    return list(conn.execute(f"SELECT {columns} FROM nodes ORDER BY id").fetchall())


@pytest.mark.parametrize(
    "sql",
    ["NULL", "0", "-9223372036854775808", "0.1", "1e308", "9e999", "-9e999", "''", "'é'", "'nul' || char(0) || 'x'",
     "x''", "x'00ff'", "CAST(x'ff' AS TEXT)", "CAST(x'eda080' AS TEXT)", "'[1, {\"a\": null}]'", "'1'", "1.0"],
)  # fmt: skip
def test_every_kind_of_value_goes_through_json_and_back(conn: apsw.Connection, sql: str) -> None:
    conn.execute(f'UPDATE nodes SET content = {sql}, "a ""quoted"" name" = {sql} WHERE id = \'a\'')
    before = storage(conn)
    taken = snapshots.take(conn, COLUMNS, "a")
    assert taken is not None
    conn.execute('UPDATE nodes SET content = \'other\', "a ""quoted"" name" = 5 WHERE id = \'a\'')
    snapshots.put_back(conn, "a", json.loads(json.dumps(taken, allow_nan=False)), with_tier=True)
    assert storage(conn) == before


@pytest.mark.parametrize(
    ("column", "counts"), [("content", True), ("last_accessed", False), ("access_count", False)]
)
@pytest.mark.parametrize("value", [1, "x", b"x", None])
def test_the_digest_tells_a_change_and_passes_over_accesses(
    conn: apsw.Connection, column: str, counts: bool, value: SQLValue
) -> None:
    conn.execute("UPDATE nodes SET content = 0, last_accessed = 0, access_count = 0")
    before = snapshots.take(conn, COLUMNS, "a")
    conn.execute(f"UPDATE nodes SET {column} = ?", (value,))
    after = snapshots.take(conn, COLUMNS, "a")
    assert before is not None
    assert after is not None
    was, now = (snapshots.digest(row, with_tier=True) for row in (before, after))
    assert (was != now) is counts
    assert now == snapshots.digest(dict(reversed(after.items())), with_tier=True)


def test_the_digest_of_an_edit_passes_over_the_tier() -> None:
    task, session = ({"id": "a", "tier": tier, "content": "x"} for tier in ("task", "session"))
    assert snapshots.digest(task, with_tier=False) == snapshots.digest(session, with_tier=False)
    assert snapshots.digest(task, with_tier=True) != snapshots.digest(session, with_tier=True)


def test_putting_back_leaves_accesses_and_other_rows_alone(conn: apsw.Connection) -> None:
    taken = snapshots.take(conn, COLUMNS, "a")
    assert taken is not None
    conn.execute("UPDATE nodes SET content = 'new', access_count = 7, embedding = x'01'")
    snapshots.put_back(conn, "a", taken, with_tier=True)
    assert conn.execute("SELECT id, content, access_count, embedding FROM nodes ORDER BY id").fetchall() == [
        ("a", None, 7, b"\x01"), ("b", "new", 7, b"\x01"),
    ]  # fmt: skip


def test_there_is_no_snapshot_of_nothing(conn: apsw.Connection) -> None:
    assert snapshots.take(conn, COLUMNS, "nothing") is None
