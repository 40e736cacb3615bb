"""The row that each change of a memory leaves, and the rows of the family's logs that follow from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import apsw

from tierdeck.errors import NotFoundError
from tierdeck.store import snapshots
from tierdeck.store.snapshots import JSONValue, Snapshot

# What the family's program writes for a move between tiers.
_TIER_OPERATION = "tier_transition"


@dataclass(frozen=True, slots=True)
class ChangeNote:
    """Who changes a memory, when and why; `undoes` is the revision that an undo takes back.

    `has_tier` says that the change is one of the tier as well: then taking it back moves the tier, too.
    """

    kind: Literal["edit", "archive", "restore", "undo"]
    actor: str
    at_ms: int
    reason: str | None = None
    undoes: int | None = None
    has_tier: bool = False

    @property
    def sentence(self) -> str:
        """The note as the family's log carries it, in one text."""
        return f"{self.kind} by {self.actor}" + (f": {self.reason}" if self.reason else "")


def record_change(
    conn: apsw.Connection, columns: Sequence[str], node_id: str, before: Snapshot, note: ChangeNote
) -> int:
    """Write the revision of a change that was just made, in its transaction, and what follows from it.

    A moved tier becomes a row of `evolution_log`, a changed confidence one of `confidence_updates`.

    Args:
        columns: the columns of `nodes`.
        before: the row as it was.

    Returns:
        The revision's id.
    Spec: SPEC-02.19
    """
    after = snapshots.take(conn, columns, node_id)
    if after is None:
        raise NotFoundError(f"change memory {node_id[:80]}: it is gone")
    conn.execute(
        "INSERT INTO td_revision (node_id, at, kind, actor, reason, before, after_digest, undoes) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            node_id, note.at_ms, note.kind, note.actor, note.reason, json.dumps(before),
            snapshots.digest(after, with_tier=note.has_tier), note.undoes,
        ),
    )  # fmt: skip
    revision_id = conn.last_insert_rowid()
    if before["tier"] != after["tier"]:
        old_tier, new_tier = (_plain(row["tier"]) for row in (before, after))
        record_move(conn, node_id, old_tier, new_tier, at_ms=note.at_ms, reasoning=note.sentence)
    if before["confidence"] != after["confidence"]:
        _log_confidence(conn, node_id, before["confidence"], after["confidence"], note.at_ms, revision_id)
    return revision_id


def record_move(
    conn: apsw.Connection, node_id: str, from_tier: str | None, to_tier: str | None, *, at_ms: int, reasoning: str
) -> int:
    """Write a move between tiers into the family's log, inside the caller's transaction.

    Returns:
        The row's id there.
    Spec: SPEC-02.18
    """
    conn.execute(
        "INSERT INTO evolution_log (timestamp, operation, node_ids, from_tier, to_tier, reasoning) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (at_ms, _TIER_OPERATION, json.dumps([node_id]), from_tier, to_tier, reasoning),
    )
    return conn.last_insert_rowid()


def _log_confidence(
    conn: apsw.Connection, node_id: str, old: JSONValue, new: JSONValue, at_ms: int, revision_id: int
) -> None:
    """The log's columns take numbers only, and the oldest stores have no such log."""
    # Where a trigger of ours noted the change already, it is at the same time: an undo puts the old `updated_at`
    # back, and the trigger, which then knows no time but the system's, is corrected.
    conn.execute(
        "UPDATE td_confidence SET at = ?1 WHERE at <> ?1 "
        "AND id = (SELECT max(id) FROM td_confidence WHERE node_id = ?2)",
        (at_ms, node_id),
    )
    has_log = conn.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'confidence_updates'")
    if isinstance(old, int | float) and isinstance(new, int | float) and has_log.fetchone() is not None:
        conn.execute(
            "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, trigger_id, "
            "timestamp) VALUES (?, ?, ?, 'manual', ?, ?)",
            (node_id, old, new, f"td_revision:{revision_id}", at_ms),
        )


def _plain(value: JSONValue) -> str | None:
    return value if isinstance(value, str) else None
