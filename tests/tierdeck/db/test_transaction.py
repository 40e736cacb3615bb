from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tierdeck.db import transaction


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[apsw.Connection]:
    """A writer on an empty WAL database with one table."""
    opened = apsw.Connection(str(tmp_path / "t.db"))
    opened.pragma("journal_mode", "wal")
    opened.execute("CREATE TABLE t (x)")
    opened.transaction_mode = "IMMEDIATE"
    yield opened
    opened.close()


def _rows(conn: apsw.Connection) -> list[object]:
    return [row[0] for row in conn.execute("SELECT x FROM t ORDER BY x")]


def test_what_is_written_inside_is_there_afterwards(conn: apsw.Connection) -> None:
    with transaction(conn):
        conn.execute("INSERT INTO t VALUES (1)")
        assert conn.in_transaction
    assert not conn.in_transaction
    assert _rows(conn) == [1]


def _write_and_fail(conn: apsw.Connection, value: int) -> None:
    with transaction(conn):
        conn.execute("INSERT INTO t VALUES (?)", (value,))
        raise KeyError


def test_an_error_takes_all_of_it_back(conn: apsw.Connection) -> None:
    with pytest.raises(KeyError):
        _write_and_fail(conn, 1)
    assert not conn.in_transaction
    assert _rows(conn) == []


def test_inside_another_one_only_the_inner_part_is_taken_back(conn: apsw.Connection) -> None:
    with transaction(conn):
        conn.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(KeyError):
            _write_and_fail(conn, 2)
        conn.execute("INSERT INTO t VALUES (3)")
    assert _rows(conn) == [1, 3]


def test_it_begins_in_the_mode_of_the_connection(conn: apsw.Connection, tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "t.db"))
    with transaction(conn), pytest.raises(apsw.BusyError):
        other.execute("BEGIN IMMEDIATE")
    other.close()


def test_a_commit_that_fails_leaves_no_transaction_open(conn: apsw.Connection) -> None:
    conn.pragma("foreign_keys", True)
    conn.execute("CREATE TABLE p (id INTEGER PRIMARY KEY)")
    conn.execute("CREATE TABLE c (p REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(apsw.ConstraintError), transaction(conn):
        conn.execute("INSERT INTO c VALUES (7)")
    assert not conn.in_transaction
    assert conn.execute("SELECT count(*) FROM c").get == 0


def test_other_threads_run_while_it_is_committed(conn: apsw.Connection) -> None:
    ran_at: list[float] = []
    is_over = threading.Event()

    def run() -> None:
        while not is_over.wait(0.001):
            ran_at.append(time.perf_counter())

    conn.wal_autocheckpoint(0)
    conn.pragma("cache_size", -400_000)  # nothing is written before the commit
    thread = threading.Thread(target=run)
    thread.start()
    with transaction(conn):
        for _ in range(60):
            conn.execute("INSERT INTO t VALUES (zeroblob(2000000))")
        committing = time.perf_counter()
    end = time.perf_counter()
    is_over.set()
    thread.join()
    # With apsw's own block it was once at most.
    assert sum(committing < moment < end for moment in ran_at) > 3


@pytest.mark.parametrize(("journal", "within"), [("wal", 1), ("delete", 2)])
def test_only_a_write_ahead_log_is_committed_without_waiting_for_the_disk(
    conn: apsw.Connection, journal: str, within: int
) -> None:
    conn.pragma("journal_mode", journal)
    with transaction(conn, is_synced=False):
        assert conn.pragma("synchronous") == within
    assert conn.pragma("synchronous") == 2
    with pytest.raises(ValueError, match="no"), transaction(conn, is_synced=False):
        raise ValueError("no")
    assert conn.pragma("synchronous") == 2
    with transaction(conn), transaction(conn, is_synced=False):
        assert conn.pragma("synchronous") == 2
