"""Agents' sessions: which row is meant by the name that an agent gives, and which session it all began with.

Distinct sessions are counted by their root, since most sessions of an agent are its sub-agents'. Who a session's
parent is may become known late: an unknown parent gets a placeholder, and what hangs under a session follows it.
"""

from __future__ import annotations

from typing import Any

import apsw

from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.model import SessionRow
from tierdeck.promote.evidence.counts import recount_roots
from tierdeck.promote.evidence.facts_sql import has_confidence_log
from tierdeck.store import Store
from tierdeck.store.drafts import checked_text
from tierdeck.store.sessions import SESSION_COLUMNS
from tierdeck.times import MILLISECONDS_BELOW

IDLE_MS = 12 * 3_600_000  # after so long without a sign of life the same name means a new run
MAX_NAME_CHARS = 500

# The latest run that has not ended and, when a parent is named, hangs under it or may yet. The last column is its
# latest sign of life, and that of its sub-agents; NULL for one that was only heard of.
_OPEN_RUN = """
SELECT s.id, s.parent_id,
    CASE WHEN s.seen_at IS NOT NULL OR EXISTS (SELECT 1 FROM td_access a WHERE a.session_id = s.id) THEN max(
        s.started_at,
        coalesce(s.seen_at, (SELECT max(a.at) FROM td_access a WHERE a.session_id = s.id)),
        coalesce((SELECT max(max(t.started_at, coalesce(t.seen_at, t.started_at)))
            FROM td_session t WHERE t.root_id = s.id), 0)) END
FROM td_session s
WHERE s.external_id = :name AND s.ended_at IS NULL
    AND (:parent IS NULL OR s.parent_id IS NULL OR s.parent_id = :parent)
ORDER BY s.run DESC LIMIT 1"""
_ADD = """
INSERT INTO td_session (id, external_id, run, root_id, parent_id, project, agent, started_at, seen_at)
SELECT new.id, :name, (SELECT coalesce(max(run), 0) + 1 FROM td_session WHERE external_id = :name),
    coalesce(:root, new.id), :parent, :project, :agent, :at, :seen
FROM (SELECT coalesce(max(id), 0) + 1 AS id FROM td_session) new"""
_NAMES_UPWARDS = """
WITH RECURSIVE up (id) AS (
    SELECT ?1 UNION
    SELECT s.parent_id FROM td_session s JOIN up ON s.id = up.id WHERE s.parent_id IS NOT NULL
)
SELECT s.external_id FROM td_session s JOIN up ON s.id = up.id"""


def meet_session(
    store: Store,
    external_id: str,
    *,
    parent: str | None = None,
    project: str | None = None,
    agent: str | None = None,
    at_ms: int | None = None,
) -> SessionRow:
    """The session that goes by this name, met now: the one that is open, else a new run of it.

    A session is open until it was ended or nothing was heard of it, nor of its sub-agents, for 12 hours. One that
    was only heard of, as somebody's parent, is taken over when it is met itself, however late. A session under
    another parent than the one named is another run. Project and agent are kept as first given.

    Args:
        external_id: what the agent calls it, the same after a restart; 1 to 500 characters.
        parent: the session that began this one, by its name; the latest run of it is meant. Unknown so far, it
            gets a placeholder. A session that had no parent so far moves under it with all its sub-agents, and
            what memories count is counted anew.
        at_ms: when, in milliseconds since the epoch; default: now.

    Raises:
        InvalidValueError: a name is blank, too long or can't be stored, or the session would be its own ancestor.
        ReadOnlyStoreError, StoreBusyError: as for every write. Nothing was written in each case.
    Spec: SPEC-09.10
    """
    name = _checked_name(external_id, "session id")
    above = None if parent is None else _checked_name(parent, "parent session id")
    facts = {"project": checked_text(project, "project"), "agent": checked_text(agent, "agent")}
    at = store.now_ms() if at_ms is None else checked_at(at_ms)
    with store.writing() as conn:
        parent_id = None if above is None else _latest_run(conn, above, at)
        if parent_id is not None:
            _check_no_loop(conn, name, above, parent_id)
        found: Any = conn.execute(_OPEN_RUN, {"name": name, "parent": parent_id}).fetchone()
        if found is None or (found[2] is not None and at - found[2] >= IDLE_MS):
            return _add(conn, name, parent_id, at, seen=at, **facts)
        session_id, known_parent, _ = found
        _see(conn, session_id, at, **facts)
        if parent_id is not None and known_parent is None:
            _hang_under(conn, store, session_id, parent_id)
        return session_row(conn, session_id)


def session_row(conn: apsw.Connection, session_id: int) -> SessionRow:
    """One session by its number, as the connection sees it now.

    Raises:
        NotFoundError: there is none.
    """
    row: Any = conn.execute(f"SELECT {SESSION_COLUMNS} FROM td_session s WHERE s.id = ?", (session_id,)).fetchone()
    if row is None:
        raise NotFoundError(f"find session {session_id}: there is none", hint="`tierdeck sessions` lists them")
    return SessionRow(*row)


def checked_at(at_ms: int) -> int:
    """A time that something happened at, in milliseconds; the future is let in, since clocks jump.

    Raises:
        InvalidValueError: it is no whole number, or beyond the year 9999.
    """
    if isinstance(at_ms, bool) or not isinstance(at_ms, int) or abs(at_ms) >= MILLISECONDS_BELOW:
        raise InvalidValueError(
            f"record access: time {at_ms!r:.40} is not a whole number of milliseconds before the year 10000"
        )
    return at_ms


def _checked_name(name: str, field: str) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME_CHARS:
        size = f"{len(name):,} characters" if isinstance(name, str) else type(name).__name__
        raise InvalidValueError(
            f"meet session: {field} {name!r:.40} is none ({size}, the limit is {MAX_NAME_CHARS})",
            hint="give the name that the agent has for its session, with at least one visible character",
        )
    if "\0" in name:
        raise InvalidValueError(
            f"meet session: {field} {name!r:.40} holds a NUL character at {name.index(chr(0))}, the limit is none"
        )
    try:
        name.encode()
    except UnicodeEncodeError as e:
        raise InvalidValueError(
            f"meet session: {field} {name!r:.40} holds half a character (a lone surrogate) at {e.start}"
        ) from e
    return name


def _latest_run(conn: apsw.Connection, name: str, at: int) -> int:
    """The row of a parent: its latest run, or a placeholder for one that was never heard of."""
    found: Any = conn.execute(
        "SELECT id FROM td_session WHERE external_id = ? ORDER BY run DESC LIMIT 1", (name,)
    ).fetchone()
    return found[0] if found else _add(conn, name, None, at, seen=None, project=None, agent=None).id


def _check_no_loop(conn: apsw.Connection, name: str, parent: str | None, parent_id: int) -> None:
    """By name, not by row: a new run under its own older run is a loop of the agent's making all the same."""
    if any(row[0] == name for row in conn.execute(_NAMES_UPWARDS, (parent_id,)).fetchall()):
        raise InvalidValueError(
            f"meet session {name[:80]!r}: its parent {(parent or '')[:80]!r} is itself or began under it",
            hint="a session's parent is the one that started it",
        )


def _add(
    conn: apsw.Connection,
    name: str,
    parent_id: int | None,
    at: int,
    *,
    seen: int | None,
    project: str | None,
    agent: str | None,
) -> SessionRow:
    root = None if parent_id is None else session_row(conn, parent_id).root_id
    conn.execute(
        _ADD,
        {
            "name": name, "root": root, "parent": parent_id, "project": project, "agent": agent, "at": at,
            "seen": seen,
        },
    )  # fmt: skip
    return session_row(conn, conn.last_insert_rowid())


def _see(conn: apsw.Connection, session_id: int, at: int, *, project: str | None, agent: str | None) -> None:
    # One that was only heard of so far may have begun before its sub-agent told of it.
    conn.execute(
        "UPDATE td_session SET "
        "started_at = CASE WHEN seen_at IS NULL THEN min(started_at, ?1) ELSE started_at END, "
        "seen_at = max(coalesce(seen_at, ?1), ?1), project = coalesce(project, ?2), agent = coalesce(agent, ?3) "
        "WHERE id = ?4",
        (at, project, agent, session_id),
    )


def _hang_under(conn: apsw.Connection, store: Store, session_id: int, parent_id: int) -> None:
    """Move a session that had no parent under one, with all that began with it, and count anew."""
    new_root = session_row(conn, parent_id).root_id
    pulled = pulled_under(conn, session_id)
    conn.execute("UPDATE td_session SET root_id = ? WHERE root_id = ?", (new_root, session_id))
    conn.execute("UPDATE td_session SET parent_id = ? WHERE id = ?", (parent_id, session_id))
    recount_roots(conn, pulled, (session_id, new_root), logs_confidence=has_confidence_log(store))


def pulled_under(conn: apsw.Connection, root_id: int) -> list[str]:
    """The memories that were pulled in a root session and its sub-agents', in the order of their ids."""
    rows: Any = conn.execute(
        "SELECT DISTINCT a.node_id FROM td_session s CROSS JOIN td_access a ON a.session_id = s.id "
        "WHERE s.root_id = ? AND a.kind = 'pull' ORDER BY a.node_id",
        (root_id,),
    ).fetchall()
    return [str(row[0]) for row in rows]
