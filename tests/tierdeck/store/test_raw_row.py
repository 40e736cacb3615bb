"""Rows read exactly as SQLite holds them, text that is no UTF-8 included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierdeck.store.raw_row import UndecodedText, raw_rows, table_columns

BAD = b"a\xff\xed\xa0\x80"
VALUE = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.binary(max_size=5)
TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=5)
ODD = st.binary(max_size=5).map(UndecodedText)


@pytest.fixture
def conn() -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(":memory:")) as opened:
        opened.execute('CREATE TABLE t (a, "b ""c")')
        yield opened


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@given(st.lists(st.tuples(VALUE | TEXT | ODD, VALUE | TEXT | ODD), max_size=6))
def test_every_value_comes_back_as_it_was_put(rows: list[tuple[object, object]]) -> None:
    with closing(apsw.Connection(":memory:")) as conn:
        conn.execute("CREATE TABLE t (a, b)")
        for row in rows:
            marks = ", ".join("CAST(? AS TEXT)" if isinstance(v, UndecodedText) else "?" for v in row)
            values = [v.data if isinstance(v, UndecodedText) else v for v in row]
            conn.execute(f"INSERT INTO t VALUES ({marks})", values)
        wanted = [
            tuple(v.data.decode() if isinstance(v, UndecodedText) and is_utf8(v.data) else v for v in row)
            for row in rows
        ]
        found = [row[1:] for row in raw_rows(conn, "t", ["a", "b"])]
        assert repr(found) == repr(wanted)


def test_a_row_that_can_not_be_decoded_hides_none_of_its_neighbours(conn: apsw.Connection) -> None:
    for number in range(5):
        conn.execute("INSERT INTO t VALUES (?, CAST(? AS TEXT))", (number, BAD if number in (0, 2, 4) else b"ok"))
    found = [row[2] for row in raw_rows(conn, "t", table_columns(conn, "t"))]
    assert found == [UndecodedText(BAD), "ok", UndecodedText(BAD), "ok", UndecodedText(BAD)]


def test_reading_begins_after_a_given_key(conn: apsw.Connection) -> None:
    conn.executemany("INSERT INTO t (rowid, a) VALUES (?, ?)", [(-3, "x"), (5, "y"), (9, "z")])
    assert [row[0] for row in raw_rows(conn, "t", ["a"], after=-3)] == [5, 9]
    assert [row[0] for row in raw_rows(conn, "t", ["a"])] == [-3, 5, 9]


def test_a_table_without_rowid_is_read_by_its_primary_key(conn: apsw.Connection) -> None:
    conn.execute("CREATE TABLE k (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    conn.execute("INSERT INTO k VALUES ('b', 1), ('a', CAST(x'ff' AS TEXT)), ('c', 3)")
    found = list(raw_rows(conn, "k", ["key", "value"], key="key"))
    assert found == [("a", "a", UndecodedText(b"\xff")), ("b", "b", 1), ("c", "c", 3)]


def test_a_table_that_is_not_there_has_no_columns(conn: apsw.Connection) -> None:
    assert table_columns(conn, "gone") == []
    assert table_columns(conn, "t") == ["a", 'b "c']
