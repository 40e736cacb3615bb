"""One open store under load: other programs that hold it, threads that share it, readers that never block."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from tests.other_program import OtherProgram, other_program
from tierdeck.db import WAL_LIMIT_BYTES
from tierdeck.errors import StoreBusyError, StoreError
from tierdeck.model import NodeChanges, NodeDraft, NodeFilter
from tierdeck.store import (
    Store,
    add_node,
    add_nodes,
    count_nodes,
    edit_node,
    get_node,
    open_store,
    page_around,
    set_setting,
)


@pytest.fixture
def neighbour(store: Store) -> Iterator[OtherProgram]:
    """Another program on the same store."""
    with other_program(store.path) as program:
        yield program


@pytest.mark.case("D01")
def test_a_write_waits_for_another_program_and_is_saved(store: Store, neighbour: OtherProgram) -> None:
    neighbour.do("conn.execute('BEGIN IMMEDIATE')")
    neighbour.begin("time.sleep(2); conn.execute('COMMIT')")
    node = add_node(store, NodeDraft("said while the store was held"))
    neighbour.wait()
    assert get_node(store, node.id).content == "said while the store was held"


@pytest.mark.case("D01")
def test_a_write_that_waited_too_long_says_so_and_changes_nothing(store: Store, neighbour: OtherProgram) -> None:
    neighbour.do("conn.execute('BEGIN IMMEDIATE')")
    with open_store(store.path, busy_timeout_ms=150) as hasty:
        with pytest.raises(StoreBusyError, match=r"another program holds it \(waited 0\.15 s\)"):
            add_node(hasty, NodeDraft("lost"))
        assert count_nodes(hasty, NodeFilter()) == 0, "reading goes on meanwhile"
        neighbour.do("conn.execute('ROLLBACK')")
        add_node(hasty, NodeDraft("kept"))
    assert count_nodes(store, NodeFilter()) == 1


@pytest.mark.case("D01")
def test_the_patience_of_a_store_is_five_seconds(store: Store) -> None:
    with store.writing() as conn:
        assert conn.pragma("busy_timeout") == 5_000
    assert store.read(lambda conn: conn.pragma("busy_timeout")) == 5_000


def test_a_write_that_fails_in_the_middle_changes_nothing(store: Store) -> None:
    def write_half() -> None:
        with store.writing() as conn:
            conn.execute("INSERT INTO nodes (id, type, content) VALUES ('a', 'fact', 'half')")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write_half()
    assert count_nodes(store, NodeFilter()) == 0
    set_setting(store, "after", "works")


@pytest.mark.case("D13")
def test_threads_read_and_write_one_store_and_no_write_is_lost(store: Store) -> None:
    shared = add_node(store, NodeDraft("shared"))

    def work(worker: int) -> int:
        for number in range(20):
            add_node(store, NodeDraft(f"{worker}/{number}"))
            edit_node(store, shared.id, NodeChanges(content=f"edited by {worker}/{number}"), actor=str(worker))
            page_around(store, NodeFilter(), None, before_rows=0, after_rows=20)
            store.data_version()
        return count_nodes(store, NodeFilter())

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, range(8)))
    assert max(counts) == count_nodes(store, NodeFilter()) == 8 * 20 + 1
    revisions = store.read(lambda conn: conn.execute("SELECT count(*) FROM td_revision").fetchall())
    assert revisions == [(8 * 20,)]


@pytest.mark.case("D13")
def test_threads_that_come_and_go_leave_no_connection_open(store: Store) -> None:
    def look() -> None:
        assert count_nodes(store, NodeFilter()) == 0

    for _ in range(30):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    on_this_file = [conn for conn in apsw.connections() if conn.filename == str(store.path)]
    assert len(on_this_file) <= 3, "the writer, one reader, the one that watches for changes"


def test_a_read_is_one_snapshot_also_when_another_is_nested_in_it(store: Store, neighbour: OtherProgram) -> None:
    add_node(store, NodeDraft("first"))

    def look(conn: apsw.Connection) -> tuple[int, int]:
        before = count_nodes(store, NodeFilter())
        neighbour.do("conn.execute(\"INSERT INTO nodes (id, type, content) VALUES ('b', 'fact', 'second')\")")
        return before, len(conn.execute("SELECT 1 FROM nodes").fetchall())

    assert store.read(look) == (1, 1)
    assert count_nodes(store, NodeFilter()) == 2


def test_the_data_version_moves_when_this_or_another_program_wrote_and_not_else(
    store: Store, neighbour: OtherProgram
) -> None:
    seen = [store.data_version()]
    count_nodes(store, NodeFilter())
    assert store.data_version() == seen[0]
    add_node(store, NodeDraft("ours"))
    seen.append(store.data_version())
    neighbour.do("conn.execute(\"INSERT INTO nodes (id, type, content) VALUES ('b', 'fact', 'theirs')\")")
    seen.append(store.data_version())
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(store.data_version).result() == seen[2], "the same in every thread"
    assert len(set(seen)) == 3


def test_a_closed_store_says_so_and_closing_twice_is_allowed(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        count_nodes(store, NodeFilter())
    with pytest.raises(StoreError, match="was closed"):
        add_node(store, NodeDraft("x"))
    with pytest.raises(StoreError, match="was closed"):
        store.data_version()


def test_a_store_closed_while_a_thread_reads_lets_it_end(store: Store) -> None:
    is_reading, go_on = threading.Event(), threading.Event()

    def look(conn: apsw.Connection) -> int:
        is_reading.set()
        go_on.wait(10)
        return len(conn.execute("SELECT 1 FROM nodes").fetchall())

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(store.read, look)
        is_reading.wait(10)
        store.close()
        go_on.set()
        assert reading.result() == 0
    assert [c for c in apsw.connections() if c.filename == str(store.path)] == []


_WRITE_20000 = (
    "conn.execute('PRAGMA synchronous=OFF').fetchall()\n"
    "for i in range(20000):\n"
    "    conn.execute(\"INSERT INTO nodes (id, type, content) VALUES (?, 'fact', ?)\", (f'n{i}', f'memory {i}'))\n"
)


@pytest.mark.case("D03")
@pytest.mark.parametrize("is_family", [False, True])
def test_the_wal_stays_small_while_the_store_is_open_and_another_program_writes(
    store: Store, family_store_path: Path, is_family: bool
) -> None:
    path = family_store_path if is_family else store.path
    wal = path.with_name(f"{path.name}-wal")
    sizes = []
    with other_program(path) as program, open_store(path) as opened:
        there = count_nodes(opened, NodeFilter())
        program.begin(_WRITE_20000)
        while count_nodes(opened, NodeFilter()) < there + 20_000:
            page_around(opened, NodeFilter(), None, before_rows=0, after_rows=50)
            sizes.append(wal.stat().st_size if wal.exists() else 0)
            time.sleep(0.01)
        program.wait()
    # The writes add up to some 300 MB, and a reader that never lets go would leave them all in the WAL.
    assert max(sizes) < WAL_LIMIT_BYTES


def test_bulk_writes_are_seen_whole_or_not_at_all(store: Store) -> None:
    seen: set[int] = set()

    def watch() -> None:
        while not done.is_set():
            seen.add(count_nodes(store, NodeFilter()))

    done = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        for _ in range(5):
            add_nodes(store, [NodeDraft(f"memory {n}") for n in range(200)])
        done.set()
        watching.result()
    assert seen <= {0, 200, 400, 600, 800, 1000}
