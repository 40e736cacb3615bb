"""Looks at memories, recorded: who asked for what, what was put in front of an agent unasked, and what came of it.

Rules count pulls only. In real stores most "use" is a tool's own pushing: both numbers are kept, and shown apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import apsw

from tierdeck.config import PromotionSettings
from tierdeck.errors import ConflictError, InvalidValueError, NotFoundError
from tierdeck.model import AccessKind, Outcome
from tierdeck.promote.agents.automatic import apply_rules
from tierdeck.promote.agents.sessions import checked_at, pulled_under, session_row
from tierdeck.promote.evidence.counts import WORTH, count_outcome, count_pull, recount_roots
from tierdeck.promote.evidence.facts_sql import has_confidence_log
from tierdeck.promote.records import RunReport
from tierdeck.store import Store, time_ms_sql
from tierdeck.times import stored_time

DEFAULTS = PromotionSettings()
_SESSION = (
    "SELECT s.root_id, coalesce(s.outcome, r.outcome) FROM td_session s JOIN td_session r ON r.id = s.root_id "
    "WHERE s.id = ?"
)
_RECORD = "INSERT INTO td_access (node_id, session_id, kind, outcome, at) VALUES (?, ?, ?, ?, ?)"
# Where a column holds no number, as another program may leave it, the new value stands alone; a later time stays
# as it is written.
_TOUCH = f"""
UPDATE nodes SET last_accessed = CASE WHEN {time_ms_sql("last_accessed")} > ?1 THEN last_accessed ELSE ?2 END,
    access_count = CASE WHEN typeof(access_count) = 'integer' THEN access_count + 1 ELSE 1 END
WHERE id = ?3"""
_SEE = "UPDATE td_session SET seen_at = max(coalesce(seen_at, ?1), ?1) WHERE id = ?2"
_LATEST_PULL = f"""
SELECT a.id, {WORTH}, coalesce(s.outcome, r.outcome), s.root_id, a.id > coalesce(f.counted_after, 0)
FROM td_access a JOIN td_session s ON s.id = a.session_id JOIN td_session r ON r.id = s.root_id
    LEFT JOIN td_facts f ON f.node_id = a.node_id
WHERE a.node_id = ? AND a.session_id = ? AND a.kind = 'pull' ORDER BY a.id DESC LIMIT 1"""


@dataclass(frozen=True, slots=True)
class _Looks:
    """What is to be recorded, checked."""

    session_id: int
    kind: AccessKind
    outcome: Outcome | None
    at_ms: int
    logs_confidence: bool


def record_accesses(
    store: Store,
    session_id: int,
    ids: Sequence[str],
    kind: AccessKind,
    *,
    outcome: Outcome | None = None,
    at_ms: int | None = None,
    settings: PromotionSettings = DEFAULTS,
) -> RunReport:
    """Record looks at memories, all in one transaction, and let the rules look at what was pulled.

    A pull also moves the memory's `last_accessed` and `access_count`, and no full-text row. Pushes, listings and
    upkeep are recorded and never counted. A session that has ended still takes what happened in it. The disk is not
    waited for: when the machine loses its power, the latest looks can be lost, whole.

    Args:
        ids: full ids, each recorded once.
        outcome: what came of it, if that is known already; it beats the session's.
        at_ms: when, in milliseconds since the epoch; default: now. A time in the future is kept: it counts as now.
        settings: the rules' numbers, and whether they run by themselves.

    Returns:
        The memories that the rules moved; `run_id` is None.

    Raises:
        NotFoundError: no such session or memory, which is named.
        InvalidValueError: the kind, the outcome or the time is none.
        ReadOnlyStoreError, StoreBusyError: as for every write. Nothing was recorded in each case.
    Spec: SPEC-09.10
    """
    looks = _Looks(
        session_id,
        _checked_kind(kind),
        checked_outcome(outcome),
        store.now_ms() if at_ms is None else checked_at(at_ms),
        has_confidence_log(store),
    )
    names = list(dict.fromkeys(ids))
    is_pull = looks.kind is AccessKind.PULL

    def record(conn: apsw.Connection) -> list[str]:
        _record(conn, names, looks)
        return names if is_pull else []

    return apply_rules(store, record, settings, is_synced=False)


def set_outcome(
    store: Store,
    session_id: int,
    node_id: str,
    outcome: Outcome | None,
    *,
    settings: PromotionSettings = DEFAULTS,
) -> RunReport:
    """Say what came of the latest pull of a memory in a session; it beats the session's own outcome.

    Args:
        outcome: None takes an earlier word back, and the session's counts again.

    Returns:
        The memories that the rules moved: this one or none; `run_id` is None.

    Raises:
        NotFoundError: the memory was not pulled in that session.
        InvalidValueError, ReadOnlyStoreError, StoreBusyError: as for every write. Nothing was changed in each case.
    Spec: SPEC-09.10
    """
    own = checked_outcome(outcome)
    logs_confidence = has_confidence_log(store)

    def change(conn: apsw.Connection) -> list[str]:
        _change_outcome(conn, session_id, node_id, own, store.now_ms(), logs_confidence=logs_confidence)
        return [node_id]

    return apply_rules(store, change, settings)


def end_session(
    store: Store,
    session_id: int,
    *,
    outcome: Outcome | None,
    at_ms: int | None = None,
    settings: PromotionSettings = DEFAULTS,
) -> RunReport:
    """End a session; its outcome counts for every pull in it that has none of its own.

    A root's outcome counts for its sub-agents' pulls too, where their sessions have none. Then the rules look at
    what was pulled in it, its sub-agents included. An ended session may be ended again: with no outcome or the
    same nothing happens, and an outcome that was not known yet is added.

    Returns:
        What the rules moved and refused. `run_id` is None when that is nothing: then no run is on record.

    Raises:
        NotFoundError: no such session.
        ConflictError: it ended with the other outcome.
        InvalidValueError, ReadOnlyStoreError, StoreBusyError: as for every write. Nothing was changed in each case.
    Spec: SPEC-09.10, SPEC-09.11
    """
    said = checked_outcome(outcome)
    at = store.now_ms() if at_ms is None else checked_at(at_ms)
    logs_confidence = has_confidence_log(store)
    return apply_rules(
        store,
        lambda conn: _end(conn, session_id, said, at, logs_confidence=logs_confidence),
        settings,
        run_kind="session-end",
    )


def checked_outcome(outcome: Outcome | None) -> Outcome | None:
    """An outcome, or none.

    Raises:
        InvalidValueError: it is something else.
    """
    if outcome is not None and outcome not in get_args(Outcome):
        raise InvalidValueError(f"record outcome: {outcome!r:.40} is none of {', '.join(get_args(Outcome))}")
    return outcome


def _checked_kind(kind: AccessKind) -> AccessKind:
    try:
        return AccessKind(kind)
    except ValueError:
        choices = ", ".join(member.value for member in AccessKind)
        raise InvalidValueError(f"record access: kind {kind!r:.40} is none of {choices}") from None


def _record(conn: apsw.Connection, ids: Sequence[str], looks: _Looks) -> None:
    found: Any = conn.execute(_SESSION, (looks.session_id,)).fetchone()
    if found is None:
        raise NotFoundError(f"record access: there is no session {looks.session_id}; nothing was recorded")
    root_id, inherited = found
    worth = looks.outcome or inherited
    column = stored_time(looks.at_ms)
    for node_id in ids:
        if looks.kind is AccessKind.PULL:
            conn.execute(_TOUCH, (looks.at_ms, column, node_id))
            is_there = conn.changes() > 0
        else:
            is_there = conn.execute("SELECT 1 FROM nodes WHERE id = ?", (node_id,)).fetchone() is not None
        if not is_there:
            raise NotFoundError(f"record access: there is no memory {node_id[:80]}; nothing was recorded")
        conn.execute(_RECORD, (node_id, looks.session_id, looks.kind.value, looks.outcome, looks.at_ms))
        if looks.kind is AccessKind.PULL:
            count_pull(
                conn, node_id, root_id=root_id, access_id=conn.last_insert_rowid(), at_ms=looks.at_ms, worth=worth,
                logs_confidence=looks.logs_confidence,
            )  # fmt: skip
    conn.execute(_SEE, (looks.at_ms, looks.session_id))


def _change_outcome(
    conn: apsw.Connection,
    session_id: int,
    node_id: str,
    outcome: Outcome | None,
    at: int,
    *,
    logs_confidence: bool,
) -> None:
    found: Any = conn.execute(_LATEST_PULL, (node_id, session_id)).fetchone()
    if found is None:
        raise NotFoundError(
            f"set outcome of {node_id[:80]}: it was not pulled in session {session_id}",
            hint="record the pull first",
        )
    access_id, was, inherited, root_id, is_evidence = found
    conn.execute("UPDATE td_access SET outcome = ? WHERE id = ?", (outcome, access_id))
    conn.execute(_SEE, (at, session_id))
    if is_evidence:
        count_outcome(
            conn, node_id, root_id=root_id, was=was, now=outcome or inherited, logs_confidence=logs_confidence
        )


def _end(
    conn: apsw.Connection, session_id: int, said: Outcome | None, at: int, *, logs_confidence: bool
) -> list[str]:
    """What was pulled in the session that was ended now; nothing when it had ended so before."""
    session = session_row(conn, session_id)
    if session.outcome is not None and said not in (None, session.outcome):
        raise ConflictError(
            f"end session {session_id}: its outcome is {session.outcome}, and {said} is asked for",
            hint="a single memory's outcome may still differ",
        )
    if session.ended_at_ms is not None and said in (None, session.outcome):
        return []
    conn.execute(
        "UPDATE td_session SET ended_at = coalesce(ended_at, ?1), seen_at = max(coalesce(seen_at, ?1), ?1), "
        "outcome = coalesce(?2, outcome) WHERE id = ?3",
        (at, said, session_id),
    )
    is_root = session.root_id == session.id
    pulled = pulled_under(conn, session_id) if is_root else _pulled_in(conn, session_id)
    if said is not None and session.outcome is None:
        recount_roots(conn, pulled, (session.root_id,), logs_confidence=logs_confidence)
    return pulled


def _pulled_in(conn: apsw.Connection, session_id: int) -> list[str]:
    rows: Any = conn.execute(
        "SELECT DISTINCT node_id FROM td_access WHERE session_id = ? AND kind = 'pull' ORDER BY node_id",
        (session_id,),
    ).fetchall()
    return [str(row[0]) for row in rows]
