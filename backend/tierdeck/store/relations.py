"""Relations: hyperedges that bind any number of memories, each in a role.

Spec: SPEC-02.11 to SPEC-02.16, SPEC-02.25
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import apsw

from tierdeck.errors import ConflictError, InvalidValueError, NotFoundError
from tierdeck.model import Edge, EdgeType, Member, NodeRow, Tier
from tierdeck.store.drafts import MAX_COUNT, checked_id, checked_text, checked_weight
from tierdeck.store.rows import SQLValue, as_bytes, read_rows, text_of
from tierdeck.store.store import Store

ROLES = ("subject", "object", "context", "participant", "cause", "effect")
MAX_LABEL_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class RelatedNode:
    """A memory that shares `edge` with the one asked about, and the role it has there."""

    edge: Edge
    role: str
    row: NodeRow


def relate(
    store: Store,
    edge_type: EdgeType,
    members: Sequence[Member],
    *,
    label: str | None = None,
    weight: float = 1.0,
    edge_id: str | None = None,
) -> Edge:
    """Bind memories together in one relation.

    Args:
        members: of at least two memories; a role is one of `ROLES`, and a memory may stand in several.
        weight: finite, 0 or more.
        edge_id: to put back a relation that `delete_edge` gave; else a UUID is drawn.

    Raises:
        InvalidValueError: too few members, a role, label or weight that may not enter.
        NotFoundError: a memory does not exist; it is named.
        ConflictError: a relation with that id exists. Nothing was written in each case.
    Spec: SPEC-02.11 to SPEC-02.16, SPEC-02.25
    """
    new_id = str(uuid4()) if edge_id is None else checked_id(edge_id)
    edge = Edge(new_id, _type(edge_type), _label(label), checked_weight(weight), _members(members))
    with store.writing() as conn:
        _check_nodes(conn, edge.members)
        if conn.execute("SELECT 1 FROM hyperedges WHERE id = ?", (edge.id,)).fetchone() is not None:
            raise ConflictError(f"relate memories: a relation {edge.id} exists", hint="change it instead")
        conn.execute(
            f"INSERT INTO hyperedges (id, {store.edge_type_column()}, label, weight) VALUES (?, ?, ?, ?)",
            (edge.id, edge.type.value, edge.label, edge.weight),
        )
        _insert_members(conn, edge)
    return edge


def get_edge(store: Store, edge_id: str) -> Edge:
    """The relation of an id.

    Raises:
        NotFoundError: there is none.
    """
    found = store.read(lambda conn: _read_edges(conn, store.edge_type_column(), [edge_id]))
    if not found:
        raise NotFoundError(f"find relation {edge_id[:80]}: there is none in {store.path}")
    return found[0]


def edges_of(store: Store, node_id: str, *, limit_rows: int = 1_000) -> list[Edge]:
    """The relations a memory stands in, at most `limit_rows`: the strongest first, then by id."""
    return store.read(lambda conn: _edges_of(conn, store.edge_type_column(), node_id, limit_rows))


def update_edge(
    store: Store,
    edge_id: str,
    *,
    label: str | None = None,
    weight: float | None = None,
    members: Sequence[Member] | None = None,
) -> Edge:
    """Replace a relation's label (an empty text removes it), weight or members; None leaves it as it is.

    Raises:
        InvalidValueError, NotFoundError: as `relate`; nothing was changed.
    Spec: SPEC-02.25
    """
    column = store.edge_type_column()
    with store.writing() as conn:
        found = _read_edges(conn, column, [edge_id])
        if not found:
            raise NotFoundError(f"change relation {edge_id[:80]}: there is none in {store.path}")
        old = found[0]
        new = Edge(
            old.id,
            old.type,
            old.label if label is None else _label(label or None),
            old.weight if weight is None else checked_weight(weight),
            old.members if members is None else _members(members),
        )
        conn.execute("UPDATE hyperedges SET label = ?, weight = ? WHERE id = ?", (new.label, new.weight, new.id))
        if members is not None:
            _check_nodes(conn, new.members)
            conn.execute("DELETE FROM membership WHERE hyperedge_id = ?", (new.id,))
            _insert_members(conn, new)
    return new


def delete_edge(store: Store, edge_id: str) -> Edge:
    """Take a relation out, and give it as it was; the memories stay.

    Raises:
        NotFoundError: there is none.
    Spec: SPEC-02.25
    """
    with store.writing() as conn:
        found = _read_edges(conn, store.edge_type_column(), [edge_id])
        if not found:
            raise NotFoundError(f"delete relation {edge_id[:80]}: there is none in {store.path}")
        conn.execute("DELETE FROM membership WHERE hyperedge_id = ?", (edge_id,))
        conn.execute("DELETE FROM hyperedges WHERE id = ?", (edge_id,))
    return found[0]


def related_nodes(
    store: Store, node_id: str, *, limit_rows: int = 100, include_archived: bool = False
) -> list[RelatedNode]:
    """The memories that share a relation with this one, at most `limit_rows`, by the relation's weight.

    A memory stands there once for each relation and role; archived ones only when asked for.

    Spec: SPEC-02.26, SPEC-03.19
    """

    def look(conn: apsw.Connection) -> list[RelatedNode]:
        edges = _edges_of(conn, store.edge_type_column(), node_id, limit_rows)
        pairs = [(edge, m) for edge in edges for m in edge.members if m.node_id != node_id]
        rows = read_rows(conn, list(dict.fromkeys(m.node_id for _, m in pairs)))
        found = [RelatedNode(edge, m.role, rows[m.node_id]) for edge, m in pairs if m.node_id in rows]
        return [r for r in found if include_archived or r.row.tier is not Tier.ARCHIVE][:limit_rows]

    return store.read(look)


def _edges_of(conn: apsw.Connection, column: str, node_id: str, limit_rows: int) -> list[Edge]:
    ids: Any = conn.execute(
        "SELECT id FROM hyperedges WHERE id IN (SELECT hyperedge_id FROM membership WHERE node_id = ?) "
        "ORDER BY weight DESC, id LIMIT ?",
        (node_id, limit_rows),
    ).fetchall()
    return _read_edges(conn, column, [row[0] for row in ids])


def _read_edges(conn: apsw.Connection, column: str, ids: Sequence[str]) -> list[Edge]:
    wanted = (json.dumps(list(ids)),)
    members: dict[str, list[Member]] = {}
    found: Any = conn.execute(
        f"SELECT hyperedge_id, node_id, {as_bytes('role')}, position FROM membership "
        "WHERE hyperedge_id IN (SELECT value FROM json_each(?)) ORDER BY position, role, node_id",
        wanted,
    )
    for edge_id, node_id, role, position in found:
        place = position if isinstance(position, int) else 0
        members.setdefault(edge_id, []).append(Member(node_id, text_of(role), place))
    columns = ", ".join(as_bytes(name) for name in (column, "label", "weight"))
    found = conn.execute(
        f"SELECT id, {columns} FROM hyperedges WHERE id IN (SELECT value FROM json_each(?))", wanted
    )
    edges = [_edge_of(values, members.get(values[0], [])) for values in found]
    return sorted(edges, key=lambda edge: (-edge.weight, edge.id))


def _edge_of(values: Sequence[SQLValue], members: Sequence[Member]) -> Edge:
    """A relation as it stands; what the schema does not allow is shown as its default, and named."""
    edge_id, kind, label, weight = values
    problems = []
    shown_type, shown_weight = EdgeType.RELATION, 1.0
    if text_of(kind) in set(EdgeType):
        shown_type = EdgeType(text_of(kind))
    else:
        problems.append(f"type: {text_of(kind)[:40]!r} is not a type; shown as relation")
    if isinstance(weight, int | float) and math.isfinite(weight) and weight >= 0:
        shown_weight = float(weight)
    else:
        problems.append(f"weight: {text_of(weight)[:40]!r} is not a number of 0 or more; shown as 1")
    shown_label = None if label is None else text_of(label)
    return Edge(text_of(edge_id), shown_type, shown_label, shown_weight, tuple(members), tuple(problems))


def _insert_members(conn: apsw.Connection, edge: Edge) -> None:
    conn.executemany(
        "INSERT INTO membership (hyperedge_id, node_id, role, position) VALUES (?, ?, ?, ?)",
        [(edge.id, member.node_id, member.role, member.position) for member in edge.members],
    )


def _check_nodes(conn: apsw.Connection, members: Sequence[Member]) -> None:
    for member in members:
        if conn.execute("SELECT 1 FROM nodes WHERE id = ?", (member.node_id,)).fetchone() is None:
            raise NotFoundError(f"relate memories: there is no memory {member.node_id[:80]}; nothing was changed")


def _type(value: EdgeType) -> EdgeType:
    try:
        return EdgeType(value)
    except ValueError:
        choices = ", ".join(member.value for member in EdgeType)
        raise InvalidValueError(f"relate memories: type {value!r:.40} is none of {choices}") from None


def _label(label: str | None) -> str | None:
    if label is not None and len(label) > MAX_LABEL_CHARS:
        raise InvalidValueError(
            f"relate memories: the label has {len(label):,} characters, the limit is {MAX_LABEL_CHARS:,}"
        )
    return checked_text(label, "label")


def _members(members: Sequence[Member]) -> tuple[Member, ...]:
    if len({member.node_id for member in members}) < 2:
        raise InvalidValueError(
            "relate memories: a relation needs at least two different memories", hint="name a second one"
        )
    seen: set[tuple[str, str]] = set()
    for member in members:
        if member.role not in ROLES:
            raise InvalidValueError(f"relate memories: role {member.role[:40]!r} is none of {', '.join(ROLES)}")
        is_whole = isinstance(member.position, int) and not isinstance(member.position, bool)
        if not is_whole or abs(member.position) > MAX_COUNT:
            raise InvalidValueError(f"relate memories: position {member.position!r:.40} is not a whole number")
        if (member.node_id, member.role) in seen:
            raise InvalidValueError(f"relate memories: {member.node_id} stands twice as {member.role}")
        seen.add((member.node_id, member.role))
    return tuple(sorted(members, key=lambda m: (m.position, m.role, m.node_id)))
