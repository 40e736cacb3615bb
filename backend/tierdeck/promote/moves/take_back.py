"""One row of the log taken back: the tier, and what the row had changed in evidence, hold and dismissal."""

from __future__ import annotations

import apsw

from tierdeck.promote.evidence.counts import forget_pulls, recount
from tierdeck.promote.evidence.facts_sql import has_confidence_log
from tierdeck.promote.log.entries import append
from tierdeck.promote.log.standing import BY_RULE, LogStep, Standing, State, standing_of
from tierdeck.promote.moves.dismissal_rows import dismiss_again
from tierdeck.promote.moves.foreign_moves import ForeignMoves
from tierdeck.promote.moves.hold_rows import hold_again, keep_tier
from tierdeck.promote.moves.known import tiers_in
from tierdeck.promote.moves.move import MoveNote, Step, log_moves, set_tiers
from tierdeck.promote.moves.refusal import moved_meanwhile, no_memory
from tierdeck.promote.records import LogDraft, Refused
from tierdeck.store import Store


def take_back(
    conn: apsw.Connection, store: Store, node_id: str, log_id: int, note: MoveNote, foreign: ForeignMoves
) -> int | Refused:
    """Take back a row of a memory's log, inside the caller's IMMEDIATE transaction.

    Args:
        foreign: other programs' moves, read on in this transaction.

    Returns:
        The id of the row that tells of it, or why nothing was changed.
    """
    tiers = tiers_in(conn, [node_id])
    if node_id not in tiers:
        return no_memory(node_id)
    tier = tiers[node_id]
    standing = standing_of(conn, node_id)
    why_not = standing.why_not(log_id)
    if why_not is not None:
        return Refused(node_id, why_not, tier)
    target = next(step for step in (*standing.done, *standing.undone) if step.id == log_id)
    was = standing.before[log_id]
    if not target.is_move:
        _put_back(conn, node_id, was, standing.now, note.at_ms)
        return append(
            conn,
            LogDraft(
                node_id, tier, tier, "undo", note.actor, note.at_ms, reason=note.reason, run_id=note.run_id,
                undoes=log_id,
            ),
        )  # fmt: skip
    if tier != target.to_tier:
        return moved_meanwhile(node_id, tier, target.to_tier)
    move = foreign.since(node_id, target.evolution_id or 0)
    if move is not None:
        return Refused(node_id, f"another program moved it since ({move})", tier)
    return _move_back(conn, store, node_id, target, standing, note)


def _move_back(
    conn: apsw.Connection, store: Store, node_id: str, target: LogStep, standing: Standing, note: MoveNote
) -> int:
    was = standing.before[target.id]
    step = Step(node_id, target.to_tier, target.from_tier, undoes=target.id)
    # Its tier was read in this very transaction, and no hold stands in the way of an undo: it can't be refused.
    moved, _ = set_tiers(conn, [step], note)
    logs_confidence = has_confidence_log(store)
    if target.kind in BY_RULE:
        forget_pulls(conn, [node_id], at_ms=note.at_ms, logs_confidence=logs_confidence)
    else:
        _restore_evidence(conn, node_id, was, logs_confidence=logs_confidence)
        _put_back(conn, node_id, was, standing.now, note.at_ms)
        keep_tier(conn, node_id)
    return log_moves(conn, moved, note)[0]


def _restore_evidence(conn: apsw.Connection, node_id: str, was: State, *, logs_confidence: bool) -> None:
    conn.execute(
        "UPDATE td_facts SET counted_after = ?, moved_at = ?, tier_after = coalesce(?, tier_after) "
        "WHERE node_id = ?",
        (was.counted_after, was.moved_at_ms, was.tier_after, node_id),
    )
    recount(conn, [node_id], logs_confidence=logs_confidence)


def _put_back(conn: apsw.Connection, node_id: str, was: State, now: State, at_ms: int) -> None:
    """The hold and the dismissal that stood before; one that stands all along is left, with the tier it names."""
    if was.hold != now.hold:
        hold_again(conn, node_id, was.hold, at_ms)
    dismiss_again(conn, node_id, was.dismissal)
