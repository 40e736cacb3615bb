"""Memories edited, archived and restored: what changes, what is logged, and what stays byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tierdeck.store.foreign import make_foreign_store
from tierdeck import db, migrate
from tierdeck.errors import InvalidValueError, NotFoundError, ReadOnlyStoreError
from tierdeck.migrate import StoreKind
from tierdeck.model import NodeChanges, NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.promote.moves.override import archive_nodes, restore_nodes
from tierdeck.store import (
    Store,
    add_node,
    add_nodes,
    confidence_changes,
    count_nodes,
    edit_node,
    get_node,
    open_store,
    revisions,
    tier_moves,
)

NOON = 1_796_040_000_000


def row(store: Store, node_id: str) -> dict[str, object]:
    """The whole row as SQLite has it."""
    columns = store.columns("nodes")
    found: Any = store.read(lambda c: c.execute("SELECT * FROM nodes WHERE id = ?", (node_id,)).fetchone())
    return dict(zip(columns, found, strict=True))


@pytest.fixture
def node_id(store: Store) -> str:
    store.clock = lambda: NOON
    draft = NodeDraft("before", subtype="s", provenance="turn 1", metadata={"a": 1}, access_count=4)
    return add_node(store, draft).id


@pytest.mark.spec("SPEC-02.22")
def test_an_edit_replaces_what_it_names_and_nothing_else(store: Store, node_id: str) -> None:
    before = row(store, node_id)
    store.clock = lambda: NOON + 5
    node = edit_node(store, node_id, NodeChanges(content="after", confidence=0.9), actor="mara", reason="wrong")
    assert (node.content, node.confidence, node.updated_at_ms) == ("after", 0.9, NOON + 5)
    assert row(store, node_id) == before | {"content": "after", "confidence": 0.9, "updated_at": NOON + 5}
    [revision] = revisions(store, node_id)
    assert (revision.kind, revision.actor, revision.reason, revision.at_ms) == ("edit", "mara", "wrong", NOON + 5)


@pytest.mark.spec("SPEC-02.22")
def test_every_field_can_be_edited_and_an_empty_text_empties_it(store: Store, node_id: str) -> None:
    changes = NodeChanges("new", NodeType.DECISION, "", 0.25, "", {"b": [True, 1.5]})
    node = edit_node(store, node_id, changes, actor="mara")
    assert (node.content, node.type, node.subtype) == ("new", NodeType.DECISION, None)
    assert (node.confidence, node.provenance, node.metadata) == (0.25, None, {"b": [True, 1.5]})


@pytest.mark.parametrize(
    "changes", [NodeChanges(), NodeChanges(content="before", confidence=0.5, subtype="s", metadata={"a": 1})]
)
def test_an_edit_that_changes_nothing_writes_nothing(store: Store, node_id: str, changes: NodeChanges) -> None:
    version = store.data_version()
    assert edit_node(store, node_id, changes, actor="mara") == get_node(store, node_id)
    assert revisions(store, node_id) == []
    assert store.data_version() == version


@pytest.mark.parametrize("metadata", [{"a": True}, {"a": 1.0}, {"a": "1"}, {}])
def test_metadata_that_python_takes_for_equal_is_still_a_change(
    store: Store, node_id: str, metadata: dict[str, object]
) -> None:
    node = edit_node(store, node_id, NodeChanges(metadata=metadata), actor="mara")
    assert json.dumps(node.metadata) == json.dumps(metadata)


@pytest.mark.parametrize(
    "changes",
    [
        NodeChanges(content=" "), NodeChanges(content="a\0"), NodeChanges(confidence=1.5),
        NodeChanges(metadata={"a": float("nan")}), NodeChanges(subtype="\ud800"),
    ],
)  # fmt: skip
def test_an_edit_that_may_not_enter_changes_nothing(store: Store, node_id: str, changes: NodeChanges) -> None:
    before = row(store, node_id)
    with pytest.raises(InvalidValueError):
        edit_node(store, node_id, changes, actor="mara")
    with pytest.raises(InvalidValueError, match="actor is blank"):
        edit_node(store, node_id, NodeChanges(content="x"), actor=" ")
    assert row(store, node_id) == before
    assert revisions(store, node_id) == []


def test_an_edited_text_is_found_by_its_new_words_and_not_by_its_old(store: Store, node_id: str) -> None:
    edit_node(store, node_id, NodeChanges(content="pelican", type=NodeType.DECISION), actor="mara")

    def hits(word: str) -> list[Any]:
        sql = "SELECT node_id, type FROM content_fts WHERE content_fts MATCH ?"
        return store.read(lambda conn: conn.execute(sql, (word,)).fetchall())

    assert hits("before") == []
    assert hits("pelican") == [(node_id, "decision")]


def test_a_changed_confidence_is_recorded(store: Store, node_id: str) -> None:
    edit_node(store, node_id, NodeChanges(confidence=0.9), actor="mara")
    edit_node(store, node_id, NodeChanges(content="x"), actor="mara")
    [change] = confidence_changes(store, node_id)
    assert (change.old, change.new, change.trigger, change.at_ms) == (0.5, 0.9, "manual", NOON)


@pytest.mark.spec("SPEC-02.23", "SPEC-03.18")
def test_a_delete_moves_to_the_archive_and_keeps_all_else(store: Store, node_id: str) -> None:
    before = row(store, node_id)
    store.clock = lambda: NOON + 5
    assert archive_nodes(store, [node_id], actor="mara", reason="stale") == [node_id]
    assert row(store, node_id) == before | {"tier": "archive"}
    assert count_nodes(store, NodeFilter(include_archived=True)) == 1


@pytest.mark.spec("SPEC-03.18")
def test_nothing_in_the_library_deletes_a_memory(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"{n}") for n in range(5)])
    archive_nodes(store, ids, actor="mara")
    archive_nodes(store, ids, actor="mara")
    assert [get_node(store, node_id).content for node_id in ids] == ["0", "1", "2", "3", "4"]


@pytest.mark.spec("SPEC-02.19")
def test_each_move_is_one_row_of_the_familys_log(store: Store, node_id: str) -> None:
    store.clock = lambda: NOON + 1
    archive_nodes(store, [node_id], actor="mara", reason="stale")
    store.clock = lambda: NOON + 2
    restore_nodes(store, [node_id], actor="mara")
    found = store.read(lambda c: c.execute("SELECT * FROM evolution_log ORDER BY id").fetchall())
    assert found == [
        (1, NOON + 1, "tier_transition", f'["{node_id}"]', "task", "archive", "override by mara: stale"),
        (2, NOON + 2, "tier_transition", f'["{node_id}"]', "archive", "longterm", "override by mara"),
    ]
    assert [(m.from_tier, m.to_tier) for m in tier_moves(store, node_id)] == [
        ("task", "archive"), ("archive", "longterm"),
    ]  # fmt: skip


@pytest.mark.spec("SPEC-03.21", "SPEC-03.22", "SPEC-03.23", "SPEC-03.24")
@pytest.mark.parametrize("tier", [Tier.TASK, Tier.SESSION, Tier.LONGTERM])
def test_an_archived_memory_is_restored_to_longterm_as_it_was(store: Store, tier: Tier) -> None:
    node = add_node(store, NodeDraft("x", tier=tier, metadata={"a": 1}, access_count=7))
    before = row(store, node.id)
    archive_nodes(store, [node.id], actor="mara")
    assert count_nodes(store, NodeFilter()) == 0
    assert restore_nodes(store, [node.id], actor="mara") == [node.id]
    assert row(store, node.id) == before | {"tier": "longterm"}
    assert count_nodes(store, NodeFilter()) == 1


def test_moving_gives_the_ids_that_really_moved(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"{n}") for n in range(4)])
    assert archive_nodes(store, [ids[2], ids[0], ids[2]], actor="mara") == [ids[2], ids[0]]
    assert archive_nodes(store, ids, actor="mara") == [ids[1], ids[3]]
    assert restore_nodes(store, [ids[1], ids[0]], actor="mara") == [ids[1], ids[0]]
    assert restore_nodes(store, ids, actor="mara") == [ids[2], ids[3]]
    assert restore_nodes(store, ids, actor="mara") == []


def test_a_move_that_names_an_unknown_id_moves_none(store: Store, node_id: str) -> None:
    with pytest.raises(NotFoundError, match="move memory nothing: there is no such memory; nothing was changed"):
        archive_nodes(store, [node_id, "nothing"], actor="mara")
    assert get_node(store, node_id).tier is Tier.TASK
    assert tier_moves(store, node_id) == []
    with pytest.raises(NotFoundError, match="edit memory nothing"):
        edit_node(store, "nothing", NodeChanges(content="x"), actor="mara")


def test_another_programs_store_refuses_every_change(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        node_id = "00000001-0000-4000-8000-000000000001"
        with pytest.raises(ReadOnlyStoreError):
            edit_node(store, node_id, NodeChanges(content="x"), actor="mara")
        with pytest.raises(ReadOnlyStoreError):
            archive_nodes(store, [node_id], actor="mara")


def test_what_another_program_left_unreadable_is_mended_by_an_edit_to_what_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(path, [{"id": "a", "content": "x", "tier": None, "confidence": "high", "metadata": "{"}])
    conn = db.open_writer(path)
    migrate.migrate(conn, StoreKind.ADOPTED)
    conn.close()
    with open_store(path) as store:
        shown = get_node(store, "a")
        assert {p.partition(":")[0] for p in shown.problems} == {"type", "tier", "confidence", "metadata"}
        node = edit_node(store, "a", NodeChanges(type=NodeType.FACT, confidence=0.5, metadata={}), actor="mara")
        assert {p.partition(":")[0] for p in node.problems} == {"tier"}
        assert archive_nodes(store, ["a"], actor="mara") == ["a"]
        assert get_node(store, "a").problems == ()
        assert confidence_changes(store, "a") == [], "the log takes numbers only"
