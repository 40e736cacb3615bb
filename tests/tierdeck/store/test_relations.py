"""Relations between memories: what may enter, what is found, and what another program left."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from tests.family import FAMILY_SCHEMA, family_id
from tests.tierdeck.store.foreign import make_foreign_store
from tierdeck import db, migrate
from tierdeck.errors import ConflictError, InvalidValueError, NotFoundError
from tierdeck.migrate import StoreKind
from tierdeck.model import EdgeType, Member, NodeDraft
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.store import (
    Store,
    add_nodes,
    delete_edge,
    edges_of,
    get_edge,
    open_store,
    relate,
    related_nodes,
    update_edge,
)
from tierdeck.store.relations import ROLES


@pytest.fixture
def ids(store: Store) -> list[str]:
    return add_nodes(store, [NodeDraft(f"memory {n}", id=f"id-{n}") for n in range(6)])


def pair(ids: list[str]) -> list[Member]:
    return [Member(ids[0], "subject"), Member(ids[1], "object", 1)]


@pytest.mark.spec("SPEC-02.25")
@pytest.mark.spec("SPEC-02.11", "SPEC-02.12", "SPEC-02.13", "SPEC-02.14", "SPEC-02.15", "SPEC-02.16")
def test_a_relation_binds_any_number_of_memories_and_is_read_back(store: Store, ids: list[str]) -> None:
    members = [Member(node_id, role, place) for place, (node_id, role) in enumerate(zip(ids, ROLES, strict=True))]
    edge = relate(store, EdgeType.CAUSATION, members, label="led to", weight=2.5)
    assert get_edge(store, edge.id) == edge
    assert (edge.type, edge.label, edge.weight, edge.problems) == (EdgeType.CAUSATION, "led to", 2.5, ())
    assert edge.members == tuple(members)
    assert [edges_of(store, node_id) for node_id in ids] == [[edge]] * 6


@pytest.mark.spec("SPEC-02.11")
@pytest.mark.parametrize("kind", EdgeType)
def test_each_type_of_relation_is_taken(store: Store, ids: list[str], kind: EdgeType) -> None:
    assert get_edge(store, relate(store, kind, pair(ids)).id).type is kind


@pytest.mark.spec("SPEC-02.12", "SPEC-02.13")
def test_a_relation_has_no_label_and_weight_1_unless_said(store: Store, ids: list[str]) -> None:
    edge = relate(store, EdgeType.RELATION, pair(ids))
    assert (edge.label, edge.weight) == (None, 1.0)
    assert relate(store, EdgeType.RELATION, pair(ids), weight=0).weight == 0.0


@pytest.mark.spec("SPEC-02.13", "SPEC-02.15")
@pytest.mark.parametrize(
    ("members", "label", "weight", "says"),
    [
        ([], None, 1.0, "at least two different memories"),
        ([Member("id-0", "subject")], None, 1.0, "at least two different memories"),
        ([Member("id-0", "subject"), Member("id-0", "object")], None, 1.0, "at least two different memories"),
        ([Member("id-0", "boss"), Member("id-1", "object")], None, 1.0, "role 'boss' is none of subject, object"),
        ([Member("id-0", "object"), Member("id-0", "object"), Member("id-1", "object")], None, 1.0, "stands twice"),
        ([Member("id-0", "object", cast("int", "first")), Member("id-1", "object")], None, 1.0, "position 'first'"),
        ([Member("id-0", "object"), Member("id-1", "object")], None, -1.0, "weight -1.0 is not"),
        ([Member("id-0", "object"), Member("id-1", "object")], None, math.nan, "weight nan is not"),
        ([Member("id-0", "object"), Member("id-1", "object")], None, math.inf, "weight inf is not"),
        (
            [Member("id-0", "object"), Member("id-1", "object")],
            "x" * 1001,
            1.0,
            "1,001 characters, the limit",
        ),
        ([Member("id-0", "object"), Member("id-1", "object")], "a\0", 1.0, "label holds a NUL"),
    ],
)
def test_a_relation_that_may_not_enter_is_refused_and_nothing_written(
    store: Store, ids: list[str], members: list[Member], label: str | None, weight: float, says: str
) -> None:
    with pytest.raises(InvalidValueError, match=says):
        relate(store, EdgeType.RELATION, members, label=label, weight=weight)
    with pytest.raises(InvalidValueError, match="type 'friendship' is none of relation, composition"):
        relate(store, cast("EdgeType", "friendship"), pair(ids))
    assert edges_of(store, "id-0") == []


@pytest.mark.spec("SPEC-02.14")
def test_an_unknown_memory_is_refused_by_name(store: Store, ids: list[str]) -> None:
    with pytest.raises(NotFoundError, match="there is no memory nobody; nothing was changed"):
        relate(store, EdgeType.RELATION, [*pair(ids), Member("nobody", "context")])
    assert edges_of(store, ids[0]) == []


@pytest.mark.spec("SPEC-02.25")
def test_a_relation_is_changed_in_what_is_named(store: Store, ids: list[str]) -> None:
    edge = relate(store, EdgeType.RELATION, pair(ids), label="l", weight=0.5)
    changed = update_edge(store, edge.id, weight=3)
    assert (changed.label, changed.weight, changed.members) == ("l", 3.0, edge.members)
    assert update_edge(store, edge.id, label="").label is None
    members = [Member(ids[4], "cause"), Member(ids[5], "effect", 1)]
    assert update_edge(store, edge.id, members=members).members == tuple(members)
    assert (edges_of(store, ids[0]), len(edges_of(store, ids[4]))) == ([], 1)
    with pytest.raises(NotFoundError, match="no memory nobody"):
        update_edge(store, edge.id, weight=9, members=[*members, Member("nobody", "object")])
    assert get_edge(store, edge.id).weight == 3.0
    for change in (get_edge, update_edge, delete_edge):
        with pytest.raises(NotFoundError, match="relation nothing: there is none"):
            change(store, "nothing")


@pytest.mark.spec("SPEC-02.25")
def test_a_deleted_relation_can_be_put_back_as_it_was(store: Store, ids: list[str]) -> None:
    edge = relate(store, EdgeType.RELATION, pair(ids), label="l", weight=0.5)
    gone = delete_edge(store, edge.id)
    assert (gone, edges_of(store, ids[0])) == (edge, [])
    back = relate(store, gone.type, gone.members, label=gone.label, weight=gone.weight, edge_id=gone.id)
    assert back == edge
    with pytest.raises(ConflictError, match=f"a relation {edge.id} exists"):
        relate(store, EdgeType.RELATION, pair(ids), edge_id=edge.id)


@pytest.mark.spec("SPEC-02.26")
def test_related_memories_come_by_the_weight_of_their_relation(store: Store, ids: list[str]) -> None:
    relate(store, EdgeType.RELATION, [Member(ids[0], "subject"), Member(ids[1], "object")], weight=0.1)
    relate(store, EdgeType.CAUSATION, [Member(ids[2], "cause"), Member(ids[0], "effect")], weight=9)
    relate(
        store,
        EdgeType.CONTEXT,
        [Member(ids[0], "participant"), Member(ids[3], "context", 2), Member(ids[4], "context", 1)],
    )
    relate(store, EdgeType.RELATION, [Member(ids[3], "subject"), Member(ids[5], "object")])
    found = related_nodes(store, ids[0])
    assert [(r.row.id, r.role, r.edge.weight) for r in found] == [
        (ids[2], "cause", 9.0), (ids[4], "context", 1.0), (ids[3], "context", 1.0), (ids[1], "object", 0.1),
    ]  # fmt: skip
    assert [r.row.id for r in related_nodes(store, ids[0], limit_rows=2)] == [ids[2], ids[4]]


@pytest.mark.spec("SPEC-02.26", "SPEC-03.19", "SPEC-03.20")
def test_an_archived_neighbour_shows_on_request_alone(store: Store, ids: list[str]) -> None:
    relate(store, EdgeType.RELATION, pair(ids))
    archive_nodes(store, [ids[1]], actor="mara")
    assert related_nodes(store, ids[0]) == []
    assert [r.row.id for r in related_nodes(store, ids[0], include_archived=True)] == [ids[1]]
    assert len(edges_of(store, ids[0])) == 1


@pytest.mark.parametrize("column", ["type", "edge_type"])
def test_the_type_stands_in_the_column_that_the_store_has(tmp_path: Path, column: str) -> None:
    path = tmp_path / "theirs.db"
    before, rest = FAMILY_SCHEMA.split("CREATE TABLE hyperedges (", 1)
    schema = before + "CREATE TABLE hyperedges (" + rest.replace("type", column, 2)
    rows: list[dict[str, object]] = [{"id": f"id-{n}", "type": "fact", "content": "x"} for n in range(2)]
    make_foreign_store(path, rows, schema)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute(f"INSERT INTO hyperedges (id, {column}) VALUES ('e', 'causation')")
        conn.execute("INSERT INTO membership VALUES ('e', 'id-0', 'cause', 0), ('e', 'id-1', 'effect', 1)")
        conn.commit()
    with open_store(path) as store:
        assert store.edge_type_column() == column
        assert [edge.type for edge in edges_of(store, "id-0")] == [EdgeType.CAUSATION]
    with closing(db.open_writer(path)) as writer:
        migrate.migrate(writer, StoreKind.ADOPTED)
    with open_store(path) as store:
        ours = relate(store, EdgeType.COMPOSITION, [Member("id-0", "subject"), Member("id-1", "object")])
        assert {edge.type for edge in edges_of(store, "id-1")} == {EdgeType.CAUSATION, EdgeType.COMPOSITION}
        assert get_edge(store, ours.id) == ours


def test_a_relation_that_the_schema_forbids_is_shown_with_its_problems(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(path, [{"id": "a", "content": "x"}, {"id": "b", "content": "y"}])
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("INSERT INTO hyperedges VALUES ('e', 'rumour', CAST(x'ff' AS TEXT), 'heavy')")
        conn.execute("INSERT INTO hyperedges VALUES ('f', NULL, NULL, NULL)")
        conn.execute("INSERT INTO membership VALUES ('e', 'a', 'boss', 'first'), ('f', 'a', 'x', NULL)")
        conn.execute("INSERT INTO membership VALUES ('e', 'gone', 'subject', 1), ('e', 'b', 'object', 2)")
        conn.commit()
    with open_store(path) as store:
        by_id = {edge.id: edge for edge in edges_of(store, "a")}
        assert (by_id["e"].type, by_id["e"].label, by_id["e"].weight) == (EdgeType.RELATION, "\ufffd", 1.0)
        assert [problem.partition(":")[0] for problem in by_id["e"].problems] == ["type", "weight"]
        assert [problem.partition(":")[0] for problem in by_id["f"].problems] == ["type", "weight"]
        assert [r.row.id for r in related_nodes(store, "a")] == ["b"]


@pytest.mark.spec("SPEC-02.26")
def test_relations_of_a_family_store_are_read(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        [related] = related_nodes(store, family_id(6))
        assert (related.row.id, related.role, related.edge.label) == (family_id(1), "object", "informs")
        assert related_nodes(store, family_id(1)) == [], "its neighbour is archived"
