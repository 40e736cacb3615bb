"""A memory's move from one tier to another: compared and set in one statement, and logged in the same transaction.

The statement moves a memory only when its tier is the one that was seen, no hold or dismissal stands against it,
and the rules in force are those that decided. Else nothing changes, and the caller is told what it is now.
Nothing but `nodes.tier` changes: not the text, the metadata, the confidence, a relation, a count or `updated_at`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import apsw

from tierdeck.promote.evidence.counts import LATEST_ACCESS, ensure_facts
from tierdeck.promote.evidence.facts_sql import DISMISSED, HELD
from tierdeck.promote.log.entries import append
from tierdeck.promote.moves.refusal import why_not_moved
from tierdeck.promote.moves.rules_in_force import RULES_KEY
from tierdeck.promote.records import LogDraft, Refused
from tierdeck.promote.rules import Criterion, Decision
from tierdeck.store import Store
from tierdeck.store.revision_log import record_move

MAX_CHUNK_ROWS = 200  # 500 moves a transaction, back to back, starved another writer for 1.8 s

_COMPARE_AND_SET = f"""UPDATE nodes AS n SET tier = :to WHERE n.id = :id AND n.tier IS :seen
    AND (:by_hand OR NOT EXISTS (
        SELECT 1 FROM (SELECT 1) LEFT JOIN td_facts f ON f.node_id = n.id WHERE {HELD} OR {DISMISSED}))
    AND (:rules IS NULL OR (SELECT value FROM td_setting WHERE key = '{RULES_KEY}') IS :rules)
    RETURNING typeof(content), CAST(content AS BLOB), typeof(metadata), CAST(metadata AS BLOB)"""


@dataclass(frozen=True, slots=True)
class Step:
    """One move to make: the tier that was seen, the one to set, and what the log says of it."""

    node_id: str
    from_tier: str | None
    to_tier: str | None
    rule: str | None = None
    rule_version: str | None = None
    criteria: tuple[Criterion, ...] = ()
    undoes: int | None = None


@dataclass(frozen=True, slots=True)
class MoveNote:
    """Who makes moves, when and why. By hand is what no hold and no dismissal stands in the way of."""

    kind: Literal["auto", "approve", "override", "undo"]
    actor: str
    at_ms: int
    reason: str | None = None
    run_id: int | None = None

    @property
    def is_by_hand(self) -> bool:
        """Whether a person gave the tier, rather than a rule."""
        return self.kind in ("override", "undo")


@dataclass(frozen=True, slots=True)
class Moved:
    """A move that was made and is not logged yet; `content_digest` is that of the text and metadata it left."""

    step: Step
    content_digest: str


def apply_decisions(
    conn: apsw.Connection,
    store: Store,
    decisions: Sequence[Decision],
    *,
    kind: Literal["auto", "approve"],
    actor: str,
    reason: str | None = None,
    run_id: int | None = None,
    expected_rules: str | None,
) -> tuple[tuple[str, ...], tuple[Refused, ...]]:
    """Make the moves that decisions ask for, inside the caller's IMMEDIATE transaction.

    The pulls that were the evidence go on counting: the next rule counts them too.

    Args:
        decisions: at most `MAX_CHUNK_ROWS`, so that no other writer waits long; those without a `to_tier` are
            passed over.
        kind: `auto` for the rules themselves, `approve` for a person who lets a rule's move through.
        expected_rules: the version that must be in force; None when the decisions were made in this transaction.

    Returns:
        The ids moved, in their order, and the others with why and the tier they are in now.

    Raises:
        StoreError: the log's end is missing; the caller's transaction must be given up, and nothing was moved.
    Spec: SPEC-09.13, SPEC-09.14, SPEC-09.15
    """
    note = MoveNote(kind, actor, store.now_ms(), reason, run_id)
    steps = [
        Step(d.node_id, d.from_tier, d.to_tier.value, d.rule, d.rule_version, d.criteria)
        for d in decisions
        if d.to_tier is not None
    ]
    moved, refused = set_tiers(conn, steps, note, expected_rules=expected_rules)
    log_moves(conn, moved, note)
    return tuple(done.step.node_id for done in moved), tuple(refused)


def set_tiers(
    conn: apsw.Connection, steps: Sequence[Step], note: MoveNote, *, expected_rules: str | None = None
) -> tuple[list[Moved], list[Refused]]:
    """Move the memories that still are what was seen, and keep their facts in step; `log_moves` must follow.

    Between the two the caller changes what the move means for the evidence, which the log then keeps.
    """
    moved: list[Moved] = []
    refused: list[Refused] = []
    for step in steps:
        found: Any = conn.execute(
            _COMPARE_AND_SET,
            {
                "id": step.node_id, "to": step.to_tier, "seen": step.from_tier, "by_hand": note.is_by_hand,
                "rules": expected_rules, "now": note.at_ms,
            },
        ).fetchall()  # fmt: skip
        if found:
            moved.append(Moved(step, _digest(found[0])))
        else:
            refused.append(
                why_not_moved(conn, step.node_id, step.from_tier, now_ms=note.at_ms, expected_rules=expected_rules)
            )
    _keep_in_step(conn, [done.step.node_id for done in moved])
    return moved, refused


def log_moves(conn: apsw.Connection, moved: Sequence[Moved], note: MoveNote) -> list[int]:
    """Write each move into the family's log and ours.

    Returns:
        The ids of the rows in ours, in the order of the moves.
    """
    rows = []
    for done in moved:
        step = done.step
        evolution_id = record_move(
            conn, step.node_id, step.from_tier, step.to_tier, at_ms=note.at_ms, reasoning=_sentence(step, note)
        )
        draft = LogDraft(
            step.node_id, step.from_tier, step.to_tier, note.kind, note.actor, note.at_ms, step.rule,
            step.rule_version, step.criteria, note.reason, note.run_id, done.content_digest, step.undoes,
            evolution_id,
        )  # fmt: skip
        rows.append(append(conn, draft))
    return rows


def _keep_in_step(conn: apsw.Connection, ids: Sequence[str]) -> None:
    """The facts of moved memories; a dismissal lapses with a move."""
    ensure_facts(conn, ids)
    names = json.dumps(list(ids))
    # Also where td_facts had the new tier already: another program had moved it away, unseen in an adopted store.
    conn.execute(
        f"UPDATE td_facts SET tier = n.tier, tier_after = {LATEST_ACCESS} "
        "FROM nodes n WHERE n.id = td_facts.node_id AND td_facts.node_id IN (SELECT value FROM json_each(?))",
        (names,),
    )
    conn.execute("DELETE FROM td_dismissal WHERE node_id IN (SELECT value FROM json_each(?))", (names,))


def _digest(lasting: Sequence[Any]) -> str:
    """BLAKE2b-256 of text and metadata as stored, each after its SQLite type and its length in bytes."""
    found = blake2b(digest_size=32)
    for kind, value in zip(lasting[::2], lasting[1::2], strict=True):
        stored = value or b""
        found.update(f"{kind}:{len(stored)}:".encode())
        found.update(stored)
    return found.hexdigest()


def _sentence(step: Step, note: MoveNote) -> str:
    """The move as the family's log carries it, in one text."""
    sentence = f"{note.kind} by {note.actor}"
    if step.rule is not None:
        found = ", ".join(f"{c.name} {c.found:.6g}" for c in step.criteria if c.found is not None)
        sentence += f", rule {step.rule} ({found})"
    return sentence + (f": {note.reason}" if note.reason else "")
