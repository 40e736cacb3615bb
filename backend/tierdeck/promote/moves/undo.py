"""Moves and decisions taken back, and taken back again: undo, and undo of an undo.

Undo goes back step by step, the newest of a memory first, and never over what somebody else did since. A memory
gets its tier back, and with it what a move by hand had ended: its evidence, its hold, its dismissal. Only the moves
of the rules differ: their evidence begins anew, since the old pulls would repeat the move.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import apsw

from tierdeck.errors import ConflictError, NotFoundError
from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.promote.log.entries import entry_in
from tierdeck.promote.log.standing import standing_of
from tierdeck.promote.moves.chunks import Pace, chunks, writing_after
from tierdeck.promote.moves.foreign_moves import ForeignMoves
from tierdeck.promote.moves.move import MoveNote
from tierdeck.promote.moves.open_run import OpenRun
from tierdeck.promote.moves.runs import run
from tierdeck.promote.moves.take_back import take_back
from tierdeck.promote.records import LogEntry, Refused, RunReport
from tierdeck.store import Store
from tierdeck.store.drafts import checked_actor, checked_text


def undoable(store: Store, node_id: str) -> LogEntry | None:
    """What `undo_move` would take back: the newest row of the memory's log that stands; None when there is none.

    Whether it still can be taken back is seen when it is tried: another program may have moved the memory since.
    """
    if not store.has_table("td_promotion_log"):
        return None

    def look(conn: apsw.Connection) -> LogEntry | None:
        done = standing_of(conn, node_id).done
        return entry_in(conn, done[-1].id) if done else None

    return store.read(look)


def undo_move(
    store: Store, node_id: str, *, actor: str, reason: str | None = None, log_id: int | None = None
) -> LogEntry:
    """Take back the newest move or decision about a memory that stands.

    Of a hold it is a release, of a release the hold again, of a dismissal a candidate again. Text, metadata,
    confidence, relations, counts and times of the memory stay byte for byte.

    Args:
        node_id: a full id.
        log_id: take back this row instead; it must be the newest that stands, or the latest undo: that is a redo.

    Returns:
        The row of the log that tells of it; its `undoes` names what was taken back.

    Raises:
        NotFoundError: no such memory, or nothing of it stands that could be taken back.
        ConflictError: a newer row stands, it was taken back already, or somebody moved the memory since.
        ReadOnlyStoreError, StoreBusyError, StoreError: as for every write. Nothing was changed in each case.
    Spec: SPEC-09.15
    """
    check_tracked(store)
    note = MoveNote("undo", checked_actor(actor), store.now_ms(), checked_text(reason, "reason"))
    with store.writing() as conn:
        if conn.execute("SELECT 1 FROM nodes WHERE id = ?", (node_id,)).fetchone() is None:
            raise NotFoundError(f"undo move of {node_id[:80]}: there is no such memory in {store.path}")
        target = _target(conn, node_id, log_id)
        foreign = ForeignMoves({node_id}, after_evolution=target.evolution_id or 0, after_log=target.id - 1)
        foreign.read_on(conn)
        done = take_back(conn, store, node_id, target.id, note, foreign)
        if isinstance(done, Refused):
            raise ConflictError(
                f"undo {target.kind} of {node_id[:80]}: {done.why}; nothing was changed",
                hint="its history shows what happened",
            )
        return _target(conn, node_id, done)  # in here: the caller's transaction may not have ended


def undo_run(
    store: Store,
    run_id: int,
    *,
    actor: str,
    reason: str | None = None,
    pace: Pace | None = None,
) -> RunReport:
    """Take back all moves of a run, in short transactions; of a run that is itself an undo it is a redo.

    What was taken back already is passed over, so that the same call goes on after one that was cut short.

    Returns:
        The ids taken back, the latest moved first, and those refused with why.

    Raises:
        NotFoundError: there is no such run.
        ReadOnlyStoreError, StoreBusyError, StoreError: as for every write; earlier transactions stand.
    Spec: SPEC-09.15
    """
    check_tracked(store)
    run(store, run_id)
    note = MoveNote("undo", checked_actor(actor), store.now_ms(), checked_text(reason, "reason"))
    rows = store.read(lambda conn: _rows_to_undo(conn, run_id))
    foreign = ForeignMoves(
        {node_id for _, node_id, _ in rows},
        after_evolution=min((evolution_id or 0 for _, _, evolution_id in rows), default=0),
        after_log=min((log_id for log_id, _, _ in rows), default=1) - 1,
    )
    undo = OpenRun("undo", planned=len(rows), actor=note.actor, reason=note.reason)
    for chunk in chunks(rows, pace or Pace()):
        with writing_after(store, undo.done_rows) as conn:
            foreign.read_on(conn)
            in_run = replace(note, run_id=undo.id_in(conn, note.at_ms))
            done = [
                (node_id, take_back(conn, store, node_id, log_id, in_run, foreign)) for log_id, node_id, _ in chunk
            ]
            moved = [node_id for node_id, result in done if not isinstance(result, Refused)]
            refused = [result for _, result in done if isinstance(result, Refused)]
            undo.add(conn, moved, refused, store.now_ms())
    return undo.close(store)


def _target(conn: apsw.Connection, node_id: str, log_id: int | None) -> LogEntry:
    """The row that is asked to be taken back, of this memory."""
    if log_id is None:
        done = standing_of(conn, node_id).done
        if not done:
            raise NotFoundError(f"undo move of {node_id[:80]}: nothing of it stands that could be taken back")
        log_id = done[-1].id
    found = entry_in(conn, log_id)
    if found is None or found.node_id != node_id:
        raise NotFoundError(f"undo move of {node_id[:80]}: row {log_id} of the log is none of this memory's")
    return found


def _rows_to_undo(conn: apsw.Connection, run_id: int) -> list[tuple[int, str, int | None]]:
    """The rows of a run that nobody took back yet, newest first: id, memory, and the family's row."""
    rows: Any = conn.execute(
        "SELECT l.id, l.node_id, l.evolution_id FROM td_promotion_log l WHERE l.run_id = ?1 AND NOT EXISTS ("
        "SELECT 1 FROM td_promotion_log u WHERE u.node_id = l.node_id AND u.id > l.id AND u.undoes = l.id) "
        "ORDER BY l.id DESC",
        (run_id,),
    ).fetchall()
    return [tuple(row) for row in rows]
