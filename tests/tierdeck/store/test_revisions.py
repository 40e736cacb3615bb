"""The way back from each change, exactly; and forth again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tierdeck.store.foreign import LOOSE_SCHEMA, make_foreign_store
from tierdeck import db, migrate
from tierdeck.errors import ConflictError, InvalidValueError, NotFoundError
from tierdeck.migrate import StoreKind
from tierdeck.model import AccessKind, EdgeType, Member, NodeChanges, NodeDraft, NodeType, Tier
from tierdeck.promote import record_accesses
from tierdeck.store import (
    Store,
    add_node,
    add_nodes,
    add_session,
    confidence_changes,
    edges_of,
    edit_node,
    embedding_off,
    get_node,
    open_store,
    redo,
    relate,
    revisions,
    snapshots,
    tier_moves,
    undo,
)
from tierdeck.store.revision_log import ChangeNote, record_change
from tierdeck.store.rows import quoted_name


def old_move(store: Store, node_id: str, kind: Literal["archive", "restore"]) -> None:
    """Move a memory as tierdeck did before it had a log of moves: by a change of its row, kept as a revision."""
    columns = store.columns("nodes")
    with store.writing() as conn:
        before = snapshots.take(conn, columns, node_id)
        assert before is not None
        tier = Tier.ARCHIVE if kind == "archive" else Tier.LONGTERM
        conn.execute("UPDATE nodes SET tier = ? WHERE id = ?", (tier.value, node_id))
        note = ChangeNote(kind, "mara", store.now_ms(), has_tier=True)
        record_change(conn, columns, node_id, before, note)


def state(store: Store) -> dict[str, list[object]]:
    """Every byte of memories, relations and embedding flags, with the storage class of each value."""

    def look(conn: apsw.Connection) -> dict[str, list[object]]:
        found: dict[str, list[object]] = {}
        for table in ("nodes", "hyperedges", "membership", "td_no_embedding"):
            names = [row[0] for row in conn.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()]
            columns = ", ".join(f"typeof({n}), quote(CAST({n} AS BLOB)), quote({n})" for n in map(str, names))
            found[table] = list(conn.execute(f"SELECT {columns} FROM {table} ORDER BY 3").fetchall())
        return found

    return store.read(look)


@pytest.mark.case("X04")
def test_twenty_memories_archived_deleted_and_edited_are_all_back_byte_for_byte(store: Store) -> None:
    ids = add_nodes(
        store,
        [
            NodeDraft(
                f"memory {n}", type=list(NodeType)[n % 5], tier=list(Tier)[n % 3], confidence=n / 20, subtype="s",
                metadata={"tags": [f"t{n}"]}, access_count=n, compute_embedding=n % 4 > 0,
            )
            for n in range(20)
        ],
    )  # fmt: skip
    relate(store, EdgeType.CAUSATION, [Member(ids[0], "cause"), Member(ids[7], "effect")], label="l", weight=0.3)
    before = state(store)
    flagged = embedding_off(store, ids)
    store.clock = lambda: 2_000_000_000_000
    for node_id in ids[:7]:
        old_move(store, node_id, "archive")
    for node_id in ids[7:14]:
        edit_node(store, node_id, NodeChanges(content="x", confidence=0.11, metadata={}, subtype=""), actor="mara")
    for node_id in ids[14:]:
        edit_node(store, node_id, NodeChanges(type=NodeType.SNIPPET, content="y"), actor="mara")
        old_move(store, node_id, "archive")
    assert state(store) != before
    for node_id in ids:
        undo(store, node_id, actor="mara")
    for node_id in ids[14:]:
        undo(store, node_id, actor="mara")
    assert state(store) == before
    assert embedding_off(store, ids) == flagged
    assert len(edges_of(store, ids[0])) == 1
    for node_id in ids:
        kinds = [revision.kind for revision in revisions(store, node_id)]
        assert kinds.count("undo") == len(kinds) / 2, "each undo is recorded itself"


@pytest.mark.case("X04")
def test_undoing_an_archive_gives_the_old_tier_and_restore_gives_longterm(store: Store) -> None:
    one, two = add_nodes(store, [NodeDraft("1", tier=Tier.SESSION), NodeDraft("2", tier=Tier.SESSION)])
    old_move(store, one, "archive")
    old_move(store, two, "archive")
    undo(store, one, actor="ole")
    old_move(store, two, "restore")
    assert (get_node(store, one).tier, get_node(store, two).tier) == (Tier.SESSION, Tier.LONGTERM)
    assert [(m.from_tier, m.to_tier, m.reasoning) for m in tier_moves(store, one)] == [
        ("session", "archive", "archive by mara"), ("archive", "session", "undo by ole"),
    ]  # fmt: skip
    undo(store, two, actor="mara")
    assert get_node(store, two).tier is Tier.ARCHIVE


def test_undo_goes_back_step_by_step_and_redo_forth(store: Store) -> None:
    node = add_node(store, NodeDraft("0"))
    for text in "123":
        edit_node(store, node.id, NodeChanges(content=text), actor="mara")

    def text_after(change: Callable[[], object]) -> str:
        change()
        return get_node(store, node.id).content

    def back() -> object:
        return undo(store, node.id, actor="mara")

    def forth() -> object:
        return redo(store, node.id, actor="mara")

    steps = [back, back, forth, back, back, forth, forth, forth, back]
    assert [text_after(step) for step in steps] == ["2", "1", "2", "1", "0", "1", "2", "3", "2"]
    edit_node(store, node.id, NodeChanges(content="other"), actor="mara")
    with pytest.raises(NotFoundError, match="no undo of it stands"):
        forth()
    assert [text_after(back) for _ in range(3)] == ["2", "1", "0"]
    with pytest.raises(NotFoundError, match="no change of it stands"):
        back()


def test_undoing_an_undo_by_its_number_is_a_redo(store: Store) -> None:
    node = add_node(store, NodeDraft("0"))
    edit_node(store, node.id, NodeChanges(content="1"), actor="mara")
    taken_back = undo(store, node.id, actor="mara")
    again = undo(store, node.id, actor="mara", revision_id=taken_back.id)
    assert (again.undoes, get_node(store, node.id).content) == (taken_back.id, "1")
    for number in (taken_back.id, 1, 99):
        with pytest.raises(ConflictError, match=f"change {number} is none of its changes that still stand"):
            undo(store, node.id, actor="mara", revision_id=number)
    undo(store, node.id, actor="mara")
    assert get_node(store, node.id).content == "0"


def test_an_older_change_is_not_taken_back_from_under_a_later_one(store: Store) -> None:
    node = add_node(store, NodeDraft("0"))
    for text in "12":
        edit_node(store, node.id, NodeChanges(content=text), actor="mara")
    with pytest.raises(ConflictError, match="it was changed since edit 1"):
        undo(store, node.id, actor="mara", revision_id=1)
    assert get_node(store, node.id).content == "2"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE nodes SET content = 'theirs'",
        "UPDATE nodes SET confidence = 0.4",
        "UPDATE nodes SET metadata = '{\"a\": 1}'",
        "UPDATE nodes SET updated_at = 5",
        "UPDATE nodes SET subtype = ''",
    ],
)
def test_a_memory_that_another_program_changed_since_is_left_alone(store: Store, sql: str) -> None:
    node = add_node(store, NodeDraft("0"))
    edit_node(store, node.id, NodeChanges(content="1"), actor="mara")
    with store.writing() as conn:
        conn.execute(sql)
    before = state(store)
    with pytest.raises(ConflictError, match="it was changed since edit 1; nothing was changed"):
        undo(store, node.id, actor="mara")
    assert state(store) == before
    assert len(revisions(store, node.id)) == 1


def moved(store: Store, node_id: str, tier: str) -> None:
    """Move a memory as promotion does: the tier, and nothing else of its row."""
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET tier = ? WHERE id = ?", (tier, node_id))


def test_a_move_between_an_edit_and_its_undo_stands_in_no_ones_way_and_stays(store: Store) -> None:
    node = add_node(store, NodeDraft("0"))
    edit_node(store, node.id, NodeChanges(content="1"), actor="mara")
    moved(store, node.id, "session")
    undo(store, node.id, actor="mara")
    assert (get_node(store, node.id).content, get_node(store, node.id).tier) == ("0", Tier.SESSION)
    moved(store, node.id, "longterm")
    redo(store, node.id, actor="mara")
    assert (get_node(store, node.id).content, get_node(store, node.id).tier) == ("1", Tier.LONGTERM)
    moved(store, node.id, "archive")
    undo(store, node.id, actor="mara")
    assert (get_node(store, node.id).content, get_node(store, node.id).tier) == ("0", Tier.ARCHIVE)
    assert tier_moves(store, node.id) == [], "an edit's undo moves no tier, and so logs none"


@pytest.mark.parametrize(("tier_now", "is_undone"), [("task", True), ("session", False)])
def test_an_edit_of_an_older_version_is_undone_as_long_as_nothing_changed(
    store: Store, tier_now: str, is_undone: bool
) -> None:
    node = add_node(store, NodeDraft("0"))
    edit_node(store, node.id, NodeChanges(content="1"), actor="mara")
    with store.writing() as conn:  # as schema 2 wrote it: the tier in the digest
        row = snapshots.take(conn, store.columns("nodes"), node.id)
        assert row is not None
        conn.execute("UPDATE td_revision SET after_digest = ?", (snapshots.digest(row, with_tier=True),))
    moved(store, node.id, tier_now)
    if is_undone:
        undo(store, node.id, actor="mara")
        redo(store, node.id, actor="mara")
        undo(store, node.id, actor="mara")
    else:
        with pytest.raises(ConflictError, match="it was changed since edit 1"):
            undo(store, node.id, actor="mara")
    assert get_node(store, node.id).content == ("0" if is_undone else "1")


def test_accesses_recorded_since_stand_in_no_ones_way_and_are_kept(store: Store) -> None:
    node = add_node(store, NodeDraft("0"))
    session = add_session(store, "s")
    edit_node(store, node.id, NodeChanges(content="1"), actor="mara")
    record_accesses(store, session.id, [node.id], AccessKind.PULL, at_ms=2_000_000_000_000)
    undo(store, node.id, actor="mara")
    found = get_node(store, node.id)
    assert (found.content, found.access_count, found.last_accessed_ms) == ("0", 1, 2_000_000_000_000)


def test_a_confidence_taken_back_is_recorded_both_ways(store: Store) -> None:
    node = add_node(store, NodeDraft("0"))
    edit_node(store, node.id, NodeChanges(confidence=0.9), actor="mara")
    undo(store, node.id, actor="mara")
    assert [(c.old, c.new) for c in confidence_changes(store, node.id)] == [(0.5, 0.9), (0.9, 0.5)]


def test_undo_of_what_is_not_there_says_so(store: Store) -> None:
    with pytest.raises(NotFoundError, match="undo memory nothing"):
        undo(store, "nothing", actor="mara")
    with pytest.raises(InvalidValueError, match="actor is blank"):
        undo(store, "nothing", actor="")


def test_the_trace_of_a_purge_is_listed_and_can_not_be_taken_back(store: Store) -> None:
    node = add_node(store, NodeDraft("0"))
    with store.writing() as conn:
        conn.execute(
            "INSERT INTO td_revision (node_id, at, kind, actor) VALUES (?, 5, 'purge', 'mara')", (node.id,)
        )
    assert [revision.kind for revision in revisions(store, node.id)] == ["purge"]
    with pytest.raises(NotFoundError, match="no change of it stands"):
        undo(store, node.id, actor="mara")


def test_another_programs_store_has_no_revisions(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert revisions(store, "00000001-0000-4000-8000-000000000001") == []


VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=40),
    st.text(st.characters(codec="utf-8"), max_size=40),
)
TEXT_BYTES = st.binary(max_size=20)


def adopted(path: Path, row: dict[str, object]) -> Store:
    """An adopted store with a column that we don't know, and whatever bytes in every other."""
    schema = LOOSE_SCHEMA.replace(
        "metadata JSON DEFAULT '{}'", 'metadata JSON DEFAULT \'{}\', "their ""column" BLOB'
    )
    make_foreign_store(path, [row], schema)
    conn = db.open_writer(path)
    migrate.migrate(conn, StoreKind.ADOPTED)
    conn.close()
    return open_store(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(data=st.data())
def test_any_row_of_another_program_is_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    names = ("subtype", "embedding", "tier", "confidence", "provenance", "created_at", "updated_at", "metadata")
    row: dict[str, object] = {"id": "a", "content": "their text", "type": "fact"}
    row |= {name: data.draw(VALUES, name) for name in (*names, "last_accessed", "access_count")}
    row['"their ""column"'] = data.draw(VALUES, "their column")
    row["text:subtype"] = data.draw(TEXT_BYTES)
    del row["subtype"]
    with adopted(tmp_path_factory.mktemp("theirs") / "m.db", row) as store:
        before = quoted_row(store)
        edit_node(store, "a", NodeChanges(content="ours", confidence=0.77, metadata={"x": 1}), actor="mara")
        old_move(store, "a", "archive")
        edit_node(store, "a", NodeChanges(type=NodeType.SNIPPET, subtype="t", provenance="p"), actor="mara")
        while any(revision.kind != "undo" for revision in standing(store)):
            undo(store, "a", actor="mara")
        assert quoted_row(store) == before


def standing(store: Store) -> list[Any]:
    undone = {revision.undoes for revision in revisions(store, "a")}
    return [r for r in revisions(store, "a") if r.id not in undone and r.kind != "undo"]


def quoted_row(store: Store) -> list[object]:
    columns = ", ".join(
        f"typeof({quoted_name(n)}), hex(CAST({quoted_name(n)} AS BLOB))" for n in store.columns("nodes")
    )
    return list(store.read(lambda conn: conn.execute(f"SELECT {columns} FROM nodes").fetchall()))


def test_what_stood_before_is_kept_as_json(store: Store) -> None:
    node = add_node(store, NodeDraft("0", metadata={"a": "é"}))
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET embedding = x'00ff'")
    edit_node(store, node.id, NodeChanges(content="1"), actor="mara")
    [(before,)] = store.read(lambda conn: conn.execute("SELECT before FROM td_revision").fetchall())
    kept = json.loads(str(before))
    assert (kept["content"], kept["embedding"], kept["metadata"]) == ("0", {"blob": "00ff"}, '{"a": "é"}')
    assert set(kept) == set(store.columns("nodes"))
