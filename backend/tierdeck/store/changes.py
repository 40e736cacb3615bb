"""Memories edited; each change leaves a revision, so that it can be taken back exactly. Spec: SPEC-02.22"""

from __future__ import annotations

import json

from tierdeck.errors import NotFoundError
from tierdeck.model import Node, NodeChanges, NodeType
from tierdeck.store import snapshots
from tierdeck.store.drafts import (
    checked_actor,
    checked_choice,
    checked_confidence,
    checked_content,
    checked_text,
    metadata_json,
)
from tierdeck.store.revision_log import ChangeNote, record_change
from tierdeck.store.rows import SQLValue, read_nodes
from tierdeck.store.store import Store


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
    note = ChangeNote("edit", checked_actor(actor), store.now_ms(), checked_text(reason, "reason"))
    columns = store.columns("nodes")
    with store.writing() as conn:
        old = read_nodes(conn, [node_id]).get(node_id)
        before = snapshots.take(conn, columns, node_id)
        if old is None or before is None:
            raise NotFoundError(f"edit memory {node_id[:80]}: there is none in {store.path}")
        new_values = _differing(old, changes)
        if not new_values:
            return old
        if "type" in new_values:
            # The family's full-text trigger fires on `content` alone, and its row carries the type as well.
            new_values.setdefault("content", old.content)
        new_values["updated_at"] = note.at_ms
        sets = ", ".join(f"{column} = ?" for column in new_values)
        conn.execute(f"UPDATE nodes SET {sets} WHERE id = ?", [*new_values.values(), node_id])
        record_change(conn, columns, node_id, before, note)
        return read_nodes(conn, [node_id])[node_id]


def _differing(old: Node, changes: NodeChanges) -> dict[str, SQLValue]:
    """The columns that the changes really change, with their checked values."""
    wanted: dict[str, SQLValue] = {}
    if changes.content is not None:
        wanted["content"] = checked_content(changes.content)
    if changes.type is not None:
        wanted["type"] = checked_choice(changes.type, NodeType, "type").value
    if changes.subtype is not None:
        wanted["subtype"] = checked_text(changes.subtype, "subtype") or None
    if changes.confidence is not None:
        wanted["confidence"] = checked_confidence(changes.confidence)
    if changes.provenance is not None:
        wanted["provenance"] = checked_text(changes.provenance, "provenance") or None
    if changes.metadata is not None:
        wanted["metadata"] = metadata_json(changes.metadata)
    # As JSON, since 1, 1.0 and True are equal to Python.
    stands: dict[str, SQLValue] = {
        "content": old.content,
        "type": old.type.value,
        "subtype": old.subtype,
        "confidence": old.confidence,
        "provenance": old.provenance,
        "metadata": json.dumps(old.metadata, ensure_ascii=False),
    }
    unreadable = {problem.partition(":")[0] for problem in old.problems}
    return {column: value for column, value in wanted.items() if value != stands[column] or column in unreadable}
