"""The numbers of changes that transactions of ours leave: each later than those before, none a second time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tierdeck.errors import StoreError
from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.store import add_nodes, edit_node, open_store
from tierdeck.store.change_numbers import REMEMBERED_CHANGES, newest_number
from tierdeck.store.store import Store


def numbers(store: Store) -> list[int]:
    rows = store.read(lambda conn: conn.execute("SELECT seq FROM td_change ORDER BY seq").fetchall())
    return [int(str(row[0])) for row in rows]


def test_two_stores_of_one_copy_never_give_the_same_number(tmp_path: Path) -> None:
    paths = [tmp_path / "one.db", tmp_path / "two.db"]
    with open_store(paths[0], create=True) as store:
        add_nodes(store, [NodeDraft("x", id="x")])
    shutil.copyfile(*paths)
    given: list[set[int]] = []
    for path in paths:
        with open_store(path) as store:
            before = numbers(store)
            add_nodes(store, [NodeDraft(f"{n}") for n in range(REMEMBERED_CHANGES * 2)])
            newest = numbers(store)[-REMEMBERED_CHANGES:]
            edit_node(store, "x", NodeChanges(content="y"), actor="t")
            assert newest_number_of(store) > newest[-1] > newest[0] > before[-1]
            given.append({newest_number_of(store), *newest})
    assert not given[0] & given[1]


def newest_number_of(store: Store) -> int:
    return store.read(newest_number)


def test_a_transaction_without_a_change_of_a_text_writes_nothing(store: Store) -> None:
    add_nodes(store, [NodeDraft("x", id="x")])
    before = numbers(store), store.data_version()
    with store.writing() as conn:
        conn.execute("SELECT 1").fetchall()
    assert (numbers(store), store.data_version()) == before


def test_what_was_undone_gives_no_number_and_leaves_none(store: Store) -> None:
    add_nodes(store, [NodeDraft("x", id="x")])
    before = numbers(store)
    with pytest.raises(StoreError), store.writing() as conn:
        conn.execute("UPDATE nodes SET content = 'y'; INSERT INTO nodes (id) VALUES (NULL)")
    assert numbers(store) == before


def test_near_the_end_of_all_numbers_they_go_on_one_by_one(store: Store) -> None:
    add_nodes(store, [NodeDraft("x", id="x")])
    with store.writing() as conn:
        conn.execute("UPDATE td_change SET seq = ?", (1 << 62,))
        conn.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'td_change'", (1 << 62,))
    edit_node(store, "x", NodeChanges(content="y"), actor="t")
    assert numbers(store) == [(1 << 62) + 1]
