"""The family's own statements, by Python's own sqlite3, on a store of ours: they work, and the words stay right."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.family import INSERT_NODE
from tierdeck.model import NodeDraft
from tierdeck.store import Store, add_nodes, get_node

# How the family's program rebuilds its full-text table: the rows get new numbers, here in another order.
REBUILD = (
    "DELETE FROM content_fts",
    "INSERT INTO content_fts (node_id, content, type) SELECT id, content, type FROM nodes ORDER BY id DESC",
)


@pytest.fixture
def family(store: Store) -> Iterator[sqlite3.Connection]:
    """The family's connection to a store of ours."""
    with closing(sqlite3.connect(store.path)) as conn:
        yield conn


def check_words(conn: sqlite3.Connection) -> None:
    """Each memory has one full-text row with its text and type, there is no other row, and its words find it."""
    rows = conn.execute("SELECT id, content, type FROM nodes ORDER BY id").fetchall()
    assert conn.execute("SELECT node_id, content, type FROM content_fts ORDER BY node_id").fetchall() == rows
    for node_id, content, _ in rows:
        hits = conn.execute("SELECT node_id FROM content_fts WHERE content_fts MATCH ?", (f'"{content}"',))
        assert (node_id,) in hits.fetchall()
    conn.execute("INSERT INTO content_fts (content_fts) VALUES ('integrity-check')")


def insert(conn: sqlite3.Connection, node_id: str, text: str) -> None:
    conn.execute(INSERT_NODE, (node_id, "fact", None, text, "task", 0.5, None, "{}"))


def test_a_memory_inserted_changed_and_deleted_by_the_family_is_right_in_the_words(
    store: Store, family: sqlite3.Connection
) -> None:
    add_nodes(store, [NodeDraft("ours", id="o")])
    insert(family, "a", "first text")
    insert(family, "b", "second text")
    check_words(family)
    family.execute("UPDATE nodes SET content = 'third text', tier = 'session' WHERE id = 'a'")
    family.execute("UPDATE nodes SET type = 'decision' WHERE id = 'b'")
    check_words(family)
    family.execute("DELETE FROM nodes WHERE id = 'b'")
    check_words(family)
    family.commit()
    assert get_node(store, "a").content == "third text"


def test_after_the_familys_rebuild_a_change_touches_the_words_of_its_own_memory_alone(
    store: Store, family: sqlite3.Connection
) -> None:
    add_nodes(store, [NodeDraft(f"memory {n}", id=f"id-{n}") for n in range(9)])
    for statement in REBUILD:
        family.execute(statement)
    assert family.execute("SELECT rowid FROM content_fts WHERE node_id = 'id-0'").fetchall() == [(9,)]
    family.execute("UPDATE nodes SET content = 'changed' WHERE id = 'id-2'")
    family.execute("DELETE FROM nodes WHERE id = 'id-5'")
    insert(family, "id-9", "added after")
    check_words(family)


def test_moving_a_tier_or_recording_an_access_touches_no_word(store: Store, family: sqlite3.Connection) -> None:
    add_nodes(store, [NodeDraft("x", id="a")])
    before = family.execute("SELECT * FROM content_fts_data").fetchall()
    family.execute("UPDATE nodes SET tier = 'session', access_count = access_count + 1, content = content")
    assert family.execute("SELECT * FROM content_fts_data").fetchall() == before


def test_what_the_schema_forbids_is_refused_to_the_family_too(family: sqlite3.Connection) -> None:
    for column, value in (("type", "rumour"), ("tier", "attic"), ("confidence", 2), ("id", None), ("id", b"blob")):
        row = {"id": "a", "type": "fact", "content": "x"} | {column: value}
        marks = ", ".join("?" * len(row))
        with pytest.raises(sqlite3.IntegrityError):
            family.execute(f"INSERT INTO nodes ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def test_edges_and_logs_are_written_by_the_familys_statements(store: Store, family: sqlite3.Connection) -> None:
    family.execute("PRAGMA foreign_keys = ON")
    add_nodes(store, [NodeDraft("x", id="a"), NodeDraft("y", id="b")])
    family.execute("INSERT INTO hyperedges (id, type, label) VALUES ('e', 'causation', 'l')")
    family.execute("INSERT INTO membership VALUES ('e', 'a', 'cause', 0), ('e', 'b', 'effect', 1)")
    family.execute("INSERT INTO evolution_log (operation, node_ids) VALUES ('tier_transition', '[]')")
    family.execute("INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type) "
                   "VALUES ('a', 0.1, 0.2, 'decay')")  # fmt: skip
    family.execute("DELETE FROM nodes WHERE id = 'a'")
    assert family.execute("SELECT node_id FROM membership").fetchall() == [("b",)]
    assert family.execute("SELECT count(*) FROM confidence_updates").fetchall() == [(0,)]


@pytest.mark.parametrize("seed", range(6))
def test_the_words_are_right_after_any_run_of_statements(
    store: Store, family: sqlite3.Connection, seed: int
) -> None:
    draw = random.Random(seed)
    words = ["alpha", "beta", "gamma", "delta"]
    for step in range(120):
        there = [row[0] for row in family.execute("SELECT id FROM nodes")]
        kind = draw.randrange(8)
        if kind < 3 or not there:
            insert(family, f"n{step}", f"{draw.choice(words)} {step}")
        elif kind < 5:
            text = f"{draw.choice(words)} changed {step}"
            family.execute("UPDATE nodes SET content = ? WHERE id = ?", (text, draw.choice(there)))
        elif kind == 5:
            family.execute("DELETE FROM nodes WHERE id = ?", (draw.choice(there),))
        elif kind == 6:
            family.execute("UPDATE nodes SET id = ? WHERE id = ?", (f"m{step}", draw.choice(there)))
        elif draw.random() < 0.4:
            for statement in REBUILD:
                family.execute(statement)
    check_words(family)
