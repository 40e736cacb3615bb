"""Whether a store still has the history that the index remembers, whoever put it back and however it grew."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tierdeck.index.store_texts import is_same_history, last_change
from tierdeck.maintenance import backup, restore_backup
from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.store import Store, add_nodes, edit_node, open_store
from tierdeck.store.change_numbers import REMEMBERED_CHANGES

Write = Callable[..., None]
MEMORIES = [NodeDraft(f"memory {n}", id=f"m{n:03}") for n in range(REMEMBERED_CHANGES + 10)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of ours, closed."""
    with open_store(tmp_path / "memory.db", create=True) as store:
        add_nodes(store, MEMORIES)
    return tmp_path / "memory.db"


def seen(path: Path) -> tuple[int, str]:
    with open_store(path) as store:
        return last_change(store)


def still_holds(path: Path, what: tuple[int, str | None]) -> bool:
    with open_store(path) as store:
        return is_same_history(store, *what)


def by_us(path: Path, number: int, text: str = "by us") -> None:
    with open_store(path) as store:
        edit_node(store, f"m{number:03}", NodeChanges(content=f"{text} {number}"), actor="t")


def by_another_program(path: Path, number: int, text: str = "by another") -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE nodes SET content = ? WHERE id = ?", (f"{text} {number}", f"m{number:03}"))


@pytest.mark.parametrize("write", [by_us, by_another_program])
def test_a_store_that_went_on_has_its_history_though_all_but_one_of_the_newest_changed(
    path: Path, write: Write
) -> None:
    before = seen(path)
    assert still_holds(path, before)
    for number in range(11, len(MEMORIES), 9):
        write(path, number)
        assert still_holds(path, before)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE nodes SET content = content || '!' WHERE id > 'm010'")
        conn.execute("DELETE FROM nodes WHERE id > 'm050'")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('new', 'fact', 'new')")
    assert still_holds(path, before)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE nodes SET content = content || '?'")
    assert not still_holds(path, before), "now it can't be told"


@pytest.mark.parametrize("write", [by_us, by_another_program])
@pytest.mark.parametrize("lost", [1, 2, 4])
@pytest.mark.parametrize("grown", [0, 1, 2, 3, 4, 8])
def test_a_copy_put_back_is_noticed_however_often_the_same_memory_was_edited(
    path: Path, write: Write, lost: int, grown: int
) -> None:
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    by_us(path, 3, "lost")
    for turn in range(lost):
        by_another_program(path, 5, f"lost {turn}")
    before = seen(path)
    shutil.copyfile(copy, path)
    for turn in range(grown):
        write(path, 5)
        write(path, 5, f"other {turn}")
    assert not still_holds(path, before), "memory 3 is not as it was seen, and nothing says so"


def test_the_same_memory_at_the_same_number_with_the_same_text_is_not_enough(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    for number in (3, 5, 7):
        by_another_program(path, number, f"first {number == 3}")
    before = seen(path)
    shutil.copyfile(copy, path)
    for number in (3, 5, 7):
        by_another_program(path, number, f"first {number == 4}")
    assert seen(path)[0] == before[0]
    assert not still_holds(path, before)


def test_what_is_done_anew_by_us_after_a_copy_was_put_back_is_another_history_to_the_last_number(
    path: Path,
) -> None:
    """An import of more memories than are remembered, of which only the first comes with another text."""
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    more = [NodeDraft(f"more {n}", id=f"x{n:03}") for n in range(REMEMBERED_CHANGES * 2)]
    with open_store(path) as store:
        add_nodes(store, more)
    before = seen(path)
    shutil.copyfile(copy, path)
    with open_store(path) as store:
        add_nodes(store, [NodeDraft("mended", id="x000"), *more[1:]])
    assert not still_holds(path, before)


def test_whatever_writes_to_a_backup_that_we_put_back_makes_another_history(path: Path) -> None:
    copy = path.with_name("copy.db")
    with open_store(path) as store:
        backup(store, copy)
    script = "INSERT INTO nodes (id, type, content) SELECT 'y' || id, 'fact', content FROM nodes"
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(script)
    before = seen(path)
    restore_backup(copy, path)
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(script)
        [(newest,)] = conn.execute("SELECT max(seq) FROM td_change").fetchall()
    assert newest > before[0]
    assert not still_holds(path, before)


def test_a_store_with_fewer_memories_than_are_remembered_is_known_though_each_changed(tmp_path: Path) -> None:
    path = tmp_path / "small.db"
    with open_store(path, create=True) as store:
        add_nodes(store, MEMORIES[:2])
        before = last_change(store)
    for _ in range(2):
        by_us(path, 0, "a")
        by_another_program(path, 1, "b")
    assert still_holds(path, before)


def test_an_id_that_is_no_text_and_a_text_of_megabytes_hinder_nothing(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("INSERT INTO nodes (id, type, content) VALUES (CAST(x'ff41' AS TEXT), 'fact', 'odd id')")
        conn.execute("INSERT INTO nodes (id, type, content) VALUES ('odd', 'fact', x'00ff')")
    with open_store(path) as store:
        add_nodes(store, [NodeDraft("x" * 3_000_000)])
    before = seen(path)
    assert len(before[1]) < 10_000
    by_us(path, 5)
    assert still_holds(path, before)


@pytest.mark.parametrize("mark", [None, "", "m003", "7", "[1]", '["a"]', "{}", '[["a", "b", "c"]]'])
def test_nothing_can_be_told_by_what_is_no_mark_of_ours(path: Path, mark: str | None) -> None:
    assert not still_holds(path, (seen(path)[0], mark))


def test_the_promotion_of_a_memory_is_no_other_history(store: Store) -> None:
    [node_id] = add_nodes(store, [NodeDraft("x")])
    before = last_change(store)
    edit_node(store, node_id, NodeChanges(confidence=0.9, subtype="s"), actor="t")
    assert last_change(store) == before
