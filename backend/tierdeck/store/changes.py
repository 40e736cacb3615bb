"""Memories edited, archived and restored; each change leaves a revision, so that it can be taken back exactly.

Nothing is ever deleted here: a delete is a move to the archive. Spec: SPEC-02.22, SPEC-02.23, SPEC-03.18
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.model import Node, NodeChanges, NodeType, Tier
from tierdeck.store import snapshots
from tierdeck.store.drafts import (
    checked_choice,
    checked_confidence,
    checked_content,
    checked_text,
    metadata_json,
)
from tierdeck.store.rows import SQLValue, read_nodes
from tierdeck.store.snapshots import JSONValue
from tierdeck.store.store import Store

# What the family's program writes for a move between tiers.
TIER_OPERATION = "tier_transition"


def edit_node(store: Store, node_id: str, changes: NodeChanges, *, actor: str, reason: str | None = None) -> Node:
    """Change a memory's text, type, confidence or notes, and keep what stood there as a revision.

    A change of confidence is also a row of `confidence_updates`. Where nothing differs, nothing is written.

    Args:
        node_id: a full id.
        actor: who changes it; at least one visible character.

    Returns:
        The memory as it now stands; `updated_at` is now.

    Raises:
        NotFoundError, InvalidValueError, ReadOnlyStoreError, StoreBusyError: nothing was changed.
    Spec: SPEC-02.22
    """
    _check_actor(actor)
    now, columns = store.now_ms(), store.columns("nodes")
    with store.writing() as conn:
        old = read_nodes(conn, [node_id]).get(node_id)
        before = snapshots.take(conn, columns, node_id)
        if old is None or before is None:
            raise NotFoundError(f"edit memory {node_id[:80]}: there is none in {store.path}")
        new_values = _differing(old, changes)
        if not new_values:
            return old
        if "type" in new_values and "content" not in new_values:
            # The family's full-text trigger fires on `content` alone, and its row carries the type as well.
            new_values["content"] = old.content
        new_values["updated_at"] = now
        sets = ", ".join(f"{column} = ?" for column in new_values)
        conn.execute(f"UPDATE nodes SET {sets} WHERE id = ?", [*new_values.values(), node_id])
        record(conn, columns, node_id, before, kind="edit", at_ms=now, actor=actor, reason=reason)
        return read_nodes(conn, [node_id])[node_id]


def archive_nodes(store: Store, ids: Sequence[str], *, actor: str, reason: str | None = None) -> list[str]:
    """Move memories to the archive, all in one transaction; they leave normal queries and are never deleted.

    Text, metadata, relations, times and counts stay byte for byte.

    Returns:
        The ids really moved, in their order; those archived already are left out.

    Raises:
        NotFoundError: an id does not exist; it is named and nothing was moved.
    Spec: SPEC-02.23, SPEC-03.18, SPEC-02.19
    """
    return _move(store, ids, kind="archive", to_tier=Tier.ARCHIVE, actor=actor, reason=reason)


def restore_nodes(store: Store, ids: Sequence[str], *, actor: str, reason: str | None = None) -> list[str]:
    """Move archived memories to longterm, all in one transaction; `undo` gives the old tier instead.

    Returns:
        The ids really moved, in their order; those not in the archive are left out.

    Raises:
        NotFoundError: an id does not exist; it is named and nothing was moved.
    Spec: SPEC-03.21 to SPEC-03.24
    """
    return _move(store, ids, kind="restore", to_tier=Tier.LONGTERM, actor=actor, reason=reason)


def record(
    conn: apsw.Connection,
    columns: Sequence[str],
    node_id: str,
    before: snapshots.Snapshot,
    *,
    kind: str,
    at_ms: int,
    actor: str,
    reason: str | None,
    undoes: int | None = None,
) -> int:
    """Write a change's revision, and the logs that follow from what it changed; gives the revision's id."""
    after = snapshots.take(conn, columns, node_id)
    if after is None:
        raise NotFoundError(f"change memory {node_id[:80]}: it is gone")
    conn.execute(
        "INSERT INTO td_revision (node_id, at, kind, actor, reason, before, after_digest, undoes) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (node_id, at_ms, kind, actor, reason, json.dumps(before), snapshots.digest(after), undoes),
    )
    revision_id = conn.last_insert_rowid()
    if before["tier"] != after["tier"]:
        conn.execute(
            "INSERT INTO evolution_log (timestamp, operation, node_ids, from_tier, to_tier, reasoning) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                at_ms,
                TIER_OPERATION,
                json.dumps([node_id]),
                before["tier"],
                after["tier"],
                f"{kind} by {actor}" + (f": {reason}" if reason else ""),
            ),
        )
    if before["confidence"] != after["confidence"]:
        _log_confidence(conn, node_id, before["confidence"], after["confidence"], at_ms, revision_id)
    return revision_id


def _move(
    store: Store, ids: Sequence[str], *, kind: str, to_tier: Tier, actor: str, reason: str | None
) -> list[str]:
    _check_actor(actor)
    now, columns = store.now_ms(), store.columns("nodes")
    moved = []
    with store.writing() as conn:
        for node_id in dict.fromkeys(ids):
            before = snapshots.take(conn, columns, node_id)
            if before is None:
                raise NotFoundError(
                    f"{kind} memory {node_id[:80]}: there is none in {store.path}; nothing was moved"
                )
            is_archived = before["tier"] == Tier.ARCHIVE
            if is_archived is (to_tier is Tier.ARCHIVE):
                continue
            conn.execute("UPDATE nodes SET tier = ? WHERE id = ?", (to_tier.value, node_id))
            record(conn, columns, node_id, before, kind=kind, at_ms=now, actor=actor, reason=reason)
            moved.append(node_id)
    return moved


def _differing(old: Node, changes: NodeChanges) -> dict[str, SQLValue]:
    """The columns whose value the changes really change, checked."""
    found: dict[str, SQLValue] = {}
    if changes.content is not None and changes.content != old.content:
        found["content"] = checked_content(changes.content)
    if changes.type is not None and changes.type != old.type:
        found["type"] = checked_choice(changes.type, NodeType, "type").value
    if changes.subtype is not None and changes.subtype != (old.subtype or ""):
        found["subtype"] = checked_text(changes.subtype, "subtype") or None
    if changes.confidence is not None and checked_confidence(changes.confidence) != old.confidence:
        found["confidence"] = float(changes.confidence)
    if changes.provenance is not None and changes.provenance != (old.provenance or ""):
        found["provenance"] = checked_text(changes.provenance, "provenance") or None
    # Compared as JSON: 1, 1.0 and True are equal to Python.
    if changes.metadata is not None and metadata_json(changes.metadata) != metadata_json(old.metadata):
        found["metadata"] = metadata_json(changes.metadata)
    return found


def _log_confidence(
    conn: apsw.Connection, node_id: str, old: JSONValue, new: JSONValue, at_ms: int, revision_id: int
) -> None:
    has_log = conn.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'confidence_updates'")
    if isinstance(old, int | float) and isinstance(new, int | float) and has_log.fetchone():
        conn.execute(
            "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, trigger_id, "
            "timestamp) VALUES (?, ?, ?, 'manual', ?, ?)",
            (node_id, old, new, f"td_revision:{revision_id}", at_ms),
        )


def _check_actor(actor: str) -> None:
    if not actor.strip():
        raise InvalidValueError("change memory: the actor is blank", hint="name who changes it")
