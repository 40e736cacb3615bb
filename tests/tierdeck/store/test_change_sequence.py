"""The change sequence that the triggers of `0002_change.own.sql` keep, by which vectors are caught up."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tierdeck.model import NodeChanges, NodeDraft
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.store import Store, add_nodes, edit_node


def since(store: Store, seq: int) -> dict[str, int]:
    """The memories changed after a number, each with the number of its latest change, in that order."""
    sql = "SELECT node_id, seq FROM td_change WHERE seq > ? ORDER BY seq"
    rows = store.read(lambda conn: conn.execute(sql, (seq,)).fetchall())
    assert len({node_id for node_id, _ in rows}) == len(rows)
    return {str(node_id): int(str(number)) for node_id, number in rows}


def last_of(changes: dict[str, int]) -> int:
    return max(changes.values())


def test_what_changed_its_text_is_named_once_in_the_order_of_the_latest_change(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"{n}") for n in range(4)])
    first = since(store, 0)
    assert list(first) == ids
    seen = last_of(first)
    assert since(store, seen) == {}
    for node_id, text in ((ids[2], "a"), (ids[0], "b"), (ids[2], "c")):
        edit_node(store, node_id, NodeChanges(content=text), actor="mara")
    assert list(since(store, seen)) == [ids[0], ids[2]]


def test_moves_and_notes_are_no_change_of_the_text(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft("x")])
    seen = last_of(since(store, 0))
    edit_node(store, ids[0], NodeChanges(confidence=0.9, subtype="s"), actor="mara")
    archive_nodes(store, ids, actor="mara")
    assert since(store, seen) == {}


def test_other_programs_changes_are_in_it_and_no_number_comes_twice(store: Store) -> None:
    add_nodes(store, [NodeDraft("x", id="a"), NodeDraft("y", id="b")])
    seen = last_of(since(store, 0))
    with closing(sqlite3.connect(store.path)) as conn:
        conn.execute("DELETE FROM nodes WHERE id = 'b'")
        conn.execute("UPDATE nodes SET id = 'c' WHERE id = 'a'")
        conn.execute("INSERT OR IGNORE INTO nodes (id, type, content) VALUES ('d', 'fact', 'z')")
        conn.commit()
    found = since(store, seen)
    assert list(found) == ["b", "a", "c", "d"]
    assert last_of(found) >= seen + 4
