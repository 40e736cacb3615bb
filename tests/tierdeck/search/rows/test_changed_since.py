"""What the store changed since the index looked: exact while it went on, not told once it went another way."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.tierdeck.search.memories import remember
from tierdeck.index.store_texts import last_change
from tierdeck.maintenance import backup
from tierdeck.search.rows.changed_since import changed_since
from tierdeck.store import Store, open_store

EDIT = "UPDATE nodes SET content = content || ? WHERE id = ?"


@pytest.fixture
def ids(store: Store) -> list[str]:
    return remember(store, *(f"memory {n}" for n in range(5)))


@pytest.fixture
def other(store: Store, ids: list[str]) -> Iterator[apsw.Connection]:
    """Another program on the same file."""
    with closing(apsw.Connection(str(store.path))) as conn:
        yield conn


def told(store: Store, seen: tuple[int, str], most: int = 100) -> frozenset[str] | None:
    return store.read(lambda conn: changed_since(conn, *seen, most))


def test_what_changed_is_told_by_whomever_and_however_often(
    store: Store, ids: list[str], other: apsw.Connection
) -> None:
    seen = last_change(store)
    assert told(store, seen) == frozenset()
    for turn in range(3):
        other.execute(EDIT, (f"{turn}", ids[4]))
        assert told(store, seen) == frozenset({ids[4]})
    other.execute("DELETE FROM nodes WHERE id = ?", (ids[0],))
    new = remember(store, "new")
    assert told(store, seen) == frozenset({ids[4], ids[0], *new})
    assert told(store, seen, most=2) is None


@pytest.mark.parametrize("grown", range(5))
def test_after_a_copy_was_put_back_under_an_open_reader_nothing_is_told(
    store: Store, ids: list[str], other: apsw.Connection, grown: int
) -> None:
    copy = store.path.with_name("copy.db")
    backup(store, copy)
    for node_id in (ids[1], ids[4], ids[4]):
        other.execute(EDIT, ("lost", node_id))
    seen = last_change(store)
    assert told(store, seen) == frozenset()
    with closing(apsw.Connection(str(copy))) as old, other.backup("main", old, "main") as copying:
        copying.step()
    assert told(store, seen) is None
    for turn in range(grown):
        other.execute(EDIT, (f"{turn}", ids[4]))
        assert told(store, seen) is None


def test_of_a_copy_that_was_edited_apart_no_change_is_taken_for_known(
    store: Store, ids: list[str], tmp_path: Path
) -> None:
    store.close()
    apart = tmp_path / "apart.db"
    shutil.copyfile(store.path, apart)
    seen: list[tuple[int, str]] = []
    for path in (store.path, apart):
        with open_store(path) as one:
            with one.writing() as conn:
                conn.execute(EDIT, ("same", ids[3]))
            seen.append(last_change(one))
            assert told(one, seen[-1]) == frozenset()
            # In a store so small each change is remembered: a later number of the one that differs says enough.
            assert [told(one, known) for known in seen[:-1]] in ([], [None], [frozenset({ids[3]})])
