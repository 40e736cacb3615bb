"""An index connection gives back what takes long while others may run, and closes in any state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tierdeck.db import open_index
from tierdeck.db.index_connection import IndexConnection


@pytest.fixture
def index(tmp_path: Path) -> apsw.Connection:
    conn = open_index(tmp_path / "memory.db-index", is_writing=True)
    conn.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1)")
    return conn


def test_an_index_is_opened_with_such_a_connection(index: apsw.Connection) -> None:
    assert isinstance(index, IndexConnection)
    index.close()


def test_the_map_and_the_pages_are_given_back_before_it_closes(index: apsw.Connection) -> None:
    said: list[str] = []

    def hear(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        said.append(sql)
        return True

    assert int(index.pragma("mmap_size")) > 0
    index.exec_trace = hear
    index.close()
    assert [name for sql in said for name in ("mmap_size", "shrink_memory") if name in sql] == [
        "mmap_size",
        "shrink_memory",
    ]


def test_a_closed_one_is_closed_again(index: apsw.Connection) -> None:
    index.close()
    index.close()
    with pytest.raises(apsw.ConnectionClosedError):
        index.execute("SELECT 1")


def _damage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 9_000)


def _remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("hurt", [_damage, _remove])
def test_one_whose_file_was_hurt_closes(tmp_path: Path, hurt: Callable[[Path], None]) -> None:
    path = tmp_path / "memory.db-index"
    conn = open_index(path, is_writing=True)
    conn.execute("CREATE TABLE t(x)")
    hurt(path)
    conn.close()
    with pytest.raises(apsw.ConnectionClosedError):
        conn.execute("SELECT 1")


def test_what_is_still_read_does_not_keep_it_open(index: apsw.Connection) -> None:
    rows = index.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) SELECT i FROM n")
    assert next(rows) == (1,)
    index.close()
    with pytest.raises(apsw.ConnectionClosedError):
        index.execute("SELECT 1")
