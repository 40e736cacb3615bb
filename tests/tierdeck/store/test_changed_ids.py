"""The sequence of changed texts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.store import ChangedIds, Store, add_nodes, archive_nodes, changes_since, edit_node, open_store


def since(store: Store, seq: int) -> ChangedIds:
    found = changes_since(store, seq)
    assert found is not None
    return found


def test_what_changed_its_text_is_named_once_in_the_order_of_the_latest_change(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"{n}") for n in range(4)])
    first = since(store, 0)
    assert first.ids == tuple(ids)
    assert since(store, first.seq) == ChangedIds((), first.seq)
    for node_id, text in ((ids[2], "a"), (ids[0], "b"), (ids[2], "c")):
        edit_node(store, node_id, NodeChanges(content=text), actor="mara")
    assert since(store, first.seq).ids == (ids[0], ids[2])


def test_moves_and_notes_are_no_change_of_the_text(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft("x")])
    seen = since(store, 0).seq
    edit_node(store, ids[0], NodeChanges(confidence=0.9, subtype="s"), actor="mara")
    archive_nodes(store, ids, actor="mara")
    assert since(store, seen).ids == ()


def test_other_programs_changes_are_in_it_and_no_number_comes_twice(store: Store) -> None:
    add_nodes(store, [NodeDraft("x", id="a"), NodeDraft("y", id="b")])
    seen = since(store, 0).seq
    with closing(sqlite3.connect(store.path)) as conn:
        conn.execute("DELETE FROM nodes WHERE id = 'b'")
        conn.execute("UPDATE nodes SET id = 'c' WHERE id = 'a'")
        conn.execute("INSERT OR IGNORE INTO nodes (id, type, content) VALUES ('d', 'fact', 'z')")
        conn.commit()
    found = since(store, seen)
    assert found.ids == ("b", "a", "c", "d")
    assert found.seq >= seen + 4


def test_many_changes_come_in_parts(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"{n}") for n in range(10)])
    got: list[str] = []
    seq, is_all = 0, False
    while not is_all:
        part = changes_since(store, seq, limit_rows=3)
        assert part is not None
        assert len(part.ids) <= 3
        got.extend(part.ids)
        seq, is_all = part.seq, part.is_all
    assert got == ids


def test_another_programs_store_keeps_no_sequence(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert changes_since(store, 0) is None
