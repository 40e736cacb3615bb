"""Changes of a memory, and the way back from each. Undoing an undo is a redo.

Undo goes back step by step: what it takes back is the newest change that still stands. It refuses when the row is
no longer what that change left, so that nobody's later work is lost.

The tier is no part of an edit: promotion moves it meanwhile, and has its own log and its own way back. Revisions of
kind "archive" and "restore", which older versions of tierdeck left, are changes of the tier.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from tierdeck.errors import ConflictError, NotFoundError
from tierdeck.model import Revision
from tierdeck.store import snapshots
from tierdeck.store.drafts import checked_actor
from tierdeck.store.revision_log import ChangeNote, record_change
from tierdeck.store.store import Store

_COLUMNS = "id, node_id, at, kind, actor, reason, undoes"


@dataclass(frozen=True, slots=True)
class _Step:
    """A revision and, for an undo, the change it took back."""

    id: int
    kind: str
    undoes: int | None


def revisions(store: Store, node_id: str) -> list[Revision]:
    """Every recorded change of a memory, newest first; none in a store without our tables."""
    if not store.has_table("td_revision"):
        return []
    sql = f"SELECT {_COLUMNS} FROM td_revision WHERE node_id = ? ORDER BY id DESC"
    rows: list[Any] = store.read(lambda conn: conn.execute(sql, (node_id,)).fetchall())
    return [Revision(*row) for row in rows]


def undo(store: Store, node_id: str, *, actor: str, revision_id: int | None = None) -> Revision:
    """Take back the newest change of a memory that still stands: text, times, every column byte for byte.

    The tier stays where it is, unless the change was one of the tier. Accesses recorded since stay as they are;
    relations are not touched.

    Args:
        revision_id: take back this one instead; naming an undo is a redo.

    Returns:
        The revision that records the undo; its `undoes` names what was taken back.

    Raises:
        NotFoundError: no such memory, or no change of it that still stands.
        ConflictError: the memory was changed since, or the change was taken back already; nothing was changed.
    """
    checked_actor(actor)
    with store.writing() as conn:
        done, undone = _steps(conn, node_id)
        if revision_id is None:
            if not done:
                raise NotFoundError(f"undo memory {node_id[:80]}: no change of it stands that could be taken back")
            revision_id = done[-1].id
        _check_open(node_id, revision_id, done, undone)
        return _take_back(store, conn, node_id, revision_id, actor)


def redo(store: Store, node_id: str, *, actor: str) -> Revision:
    """Take back the latest undo of a memory; raises as `undo` does, NotFoundError when nothing was undone last."""
    checked_actor(actor)
    with store.writing() as conn:
        _, undone = _steps(conn, node_id)
        if not undone:
            raise NotFoundError(f"redo memory {node_id[:80]}: no undo of it stands that could be taken back")
        return _take_back(store, conn, node_id, undone[-1].id, actor)


def _steps(conn: apsw.Connection, node_id: str) -> tuple[list[_Step], list[_Step]]:
    """The changes that still stand, and the undos that could still be redone, each oldest first."""
    done: list[_Step] = []
    undone: list[_Step] = []
    rows: Any = conn.execute(
        "SELECT id, kind, undoes FROM td_revision WHERE node_id = ? AND before IS NOT NULL ORDER BY id", (node_id,)
    )
    for step in (_Step(*row) for row in rows):
        if step.undoes is None:
            done.append(step)
            undone.clear()
        elif any(other.id == step.undoes for other in undone):
            undone = [other for other in undone if other.id != step.undoes]
            done.append(step)
        else:
            done = [other for other in done if other.id != step.undoes]
            undone.append(step)
    return done, undone


def _check_open(node_id: str, revision_id: int, done: Sequence[_Step], undone: Sequence[_Step]) -> None:
    if all(step.id != revision_id for step in (*done, *undone)):
        raise ConflictError(
            f"undo memory {node_id}: change {revision_id} is none of its changes that still stand",
            hint="its history lists them",
        )


def _take_back(store: Store, conn: apsw.Connection, node_id: str, revision_id: int, actor: str) -> Revision:
    columns = store.columns("nodes")
    found: Any = conn.execute("SELECT before, after_digest, kind FROM td_revision WHERE id = ?", (revision_id,))
    [(before_json, after_digest, kind)] = found.fetchall()
    stands = snapshots.take(conn, columns, node_id)
    if stands is None:
        raise NotFoundError(f"undo memory {node_id[:80]}: there is none in {store.path}")
    has_tier = _changed_kind(conn, revision_id) != "edit"
    # Before schema 3 the digest of an edit had the tier in it, too.
    if after_digest not in {snapshots.digest(stands, with_tier=with_tier) for with_tier in (has_tier, True)}:
        raise ConflictError(
            f"undo memory {node_id}: it was changed since {kind} {revision_id}; nothing was changed",
            hint="look at its history and edit it by hand",
        )
    snapshots.put_back(conn, node_id, json.loads(before_json), with_tier=has_tier)
    note = ChangeNote("undo", actor, store.now_ms(), undoes=revision_id, has_tier=has_tier)
    undo_id = record_change(conn, columns, node_id, stands, note)
    return Revision(undo_id, node_id, note.at_ms, note.kind, note.actor, note.reason, note.undoes)


def _changed_kind(conn: apsw.Connection, revision_id: int) -> str:
    """The kind of the change that a revision is or, for an undo and its undos, goes back to."""
    sql = """
        WITH RECURSIVE step (kind, undoes) AS (
            SELECT kind, undoes FROM td_revision WHERE id = ?
            UNION ALL SELECT r.kind, r.undoes FROM td_revision r JOIN step ON r.id = step.undoes
        )
        SELECT kind FROM step WHERE undoes IS NULL"""
    return str(conn.execute(sql, (revision_id,)).get)
