"""Another program's store, read again and again while its owner lives, writes, crashes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from tests.folder_state import folder_state
from tests.other_program import OtherProgram, other_program
from tierdeck.errors import DamagedStoreError, StoreBusyError, StoreError
from tierdeck.model import NodeFilter
from tierdeck.store import Store, count_nodes, open_store, page_around

INSERT = "conn.execute(\"INSERT INTO nodes (id, type, content) VALUES ('new', 'fact', 'written meanwhile')\")"


@pytest.fixture
def owner(family_store_path: Path) -> Iterator[OtherProgram]:
    with other_program(family_store_path) as program:
        program.do('conn.execute("UPDATE nodes SET access_count = 1")')
        yield program


@pytest.fixture
def theirs(family_store_path: Path, owner: OtherProgram) -> Iterator[Store]:
    with open_store(family_store_path, busy_timeout_ms=200) as store:
        yield store


def crash(store: Store, owner: OtherProgram) -> None:
    """The owner is killed, and a reboot loses the shared memory."""
    owner.kill()
    store.path.with_name(f"{store.path.name}-shm").unlink()


def test_what_the_owner_writes_is_seen_and_only_its_own_files_change(theirs: Store, owner: OtherProgram) -> None:
    before = folder_state(theirs.path.parent)
    assert count_nodes(theirs, NodeFilter()) == 7
    page_around(theirs, NodeFilter(), None, before_rows=0, after_rows=9)
    assert folder_state(theirs.path.parent) == before
    version = theirs.data_version()
    owner.do(INSERT)
    assert theirs.data_version() != version
    before = folder_state(theirs.path.parent)
    assert count_nodes(theirs, NodeFilter()) == 8
    assert folder_state(theirs.path.parent) == before


def test_a_crashed_owners_store_is_copied_once_for_each_of_its_states(
    theirs: Store, owner: OtherProgram, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    crash(theirs, owner)
    before = folder_state(theirs.path.parent)
    assert count_nodes(theirs, NodeFilter()) == 7
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "no longer there"))
    for _ in range(5):
        assert len(page_around(theirs, NodeFilter(), None, before_rows=0, after_rows=9).rows) == 7
    assert folder_state(theirs.path.parent) == before
    with theirs.path.with_name(f"{theirs.path.name}-wal").open("ab") as wal:
        wal.write(b"\0" * 100)
    with pytest.raises(StoreError, match="can't be read"):
        count_nodes(theirs, NodeFilter())


def test_threads_share_the_copy_of_a_crashed_owners_store(theirs: Store, owner: OtherProgram) -> None:
    crash(theirs, owner)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: count_nodes(theirs, NodeFilter()), range(64)))
    assert set(found) == {7}


def test_an_owner_that_comes_back_after_its_crash_is_followed(theirs: Store, owner: OtherProgram) -> None:
    crash(theirs, owner)
    assert count_nodes(theirs, NodeFilter()) == 7
    with other_program(theirs.path) as again:
        again.do(INSERT)
        assert count_nodes(theirs, NodeFilter()) == 8
    assert count_nodes(theirs, NodeFilter()) == 8
    assert [path.name for path in theirs.path.parent.iterdir()] == [theirs.path.name]


def test_an_owner_that_holds_its_file_too_long_is_named(theirs: Store, owner: OtherProgram) -> None:
    owner.do("conn.execute('PRAGMA journal_mode=DELETE').fetchall(); conn.execute('BEGIN EXCLUSIVE')")
    with pytest.raises(StoreBusyError, match=r"held it or changed it for 0\.2 s"):
        count_nodes(theirs, NodeFilter())
    owner.do("conn.execute('COMMIT')")
    assert count_nodes(theirs, NodeFilter()) == 7


def test_a_look_that_fails_of_itself_fails_once(theirs: Store) -> None:
    seen = []

    def look(conn: apsw.Connection) -> None:
        seen.append(1)
        conn.execute("SELECT nothing_of_that_name FROM nodes")

    with pytest.raises(StoreError, match="no such column"):
        theirs.read(look)
    assert len(seen) == 1


def test_a_file_damaged_meanwhile_is_told_as_damaged(theirs: Store, owner: OtherProgram) -> None:
    owner.do("conn.close()")
    data = bytearray(theirs.path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    theirs.path.write_bytes(data)
    with pytest.raises(DamagedStoreError):
        count_nodes(theirs, NodeFilter())


def test_a_file_taken_away_is_named_and_read_again_when_it_is_back(theirs: Store, owner: OtherProgram) -> None:
    owner.do("conn.close()")
    away = theirs.path.with_name("away.db")
    theirs.path.rename(away)
    with pytest.raises(StoreError, match="no such file"):
        count_nodes(theirs, NodeFilter())
    away.rename(theirs.path)
    assert count_nodes(theirs, NodeFilter()) == 7


def test_a_closed_store_keeps_no_connection(theirs: Store, owner: OtherProgram) -> None:
    crash(theirs, owner)
    before = len(apsw.connections())
    assert count_nodes(theirs, NodeFilter()) == 7
    assert len(apsw.connections()) == before + 1
    theirs.close()
    with pytest.raises(StoreError, match="was closed"):
        count_nodes(theirs, NodeFilter())
    assert len(apsw.connections()) == before
