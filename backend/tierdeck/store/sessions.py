"""Sessions of agents as plain rows; how one is met again and what is pulled in it stands in `promote`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import apsw

from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.model import Outcome, SessionRow
from tierdeck.store.drafts import checked_text
from tierdeck.store.rows import as_kinds
from tierdeck.store.store import Store

_NAMES = "s.id s.external_id s.run s.root_id s.parent_id s.project s.agent s.started_at s.ended_at s.outcome"
_KINDS = as_kinds(
    "s.external_id s.project s.agent s.outcome", "s.id s.run s.root_id s.parent_id s.started_at s.ended_at"
)
SESSION_COLUMNS = ", ".join(_KINDS[name] for name in _NAMES.split())


def sessions(store: Store) -> list[SessionRow]:
    """Every session, the latest begun first; none in a store without our tables."""
    if not store.has_table("td_session"):
        return []
    sql = f"SELECT {SESSION_COLUMNS} FROM td_session s ORDER BY s.started_at DESC, s.id DESC"
    rows: list[Any] = store.read(lambda conn: conn.execute(sql).fetchall())
    return [SessionRow(*row) for row in rows]


def sessions_in(conn: apsw.Connection, ids: Iterable[int]) -> dict[int, SessionRow]:
    """Those of these sessions that exist, by number, as the connection sees them now."""
    sql = f"SELECT {SESSION_COLUMNS} FROM td_session s WHERE s.id IN (SELECT value FROM json_each(?))"
    rows: Any = conn.execute(sql, (json.dumps(sorted(ids)),))
    return {row[0]: SessionRow(*row) for row in rows}


def add_session(
    store: Store,
    external_id: str,
    *,
    parent_id: int | None = None,
    project: str | None = None,
    agent: str | None = None,
    started_at_ms: int | None = None,
    ended_at_ms: int | None = None,
    outcome: Outcome | None = None,
) -> SessionRow:
    """Record a session; a known external id becomes a new run of it, a child shares its parent's root.

    Raises:
        InvalidValueError: the id is blank or a text may not enter.
        NotFoundError: there is no session `parent_id`.
        ReadOnlyStoreError, StoreBusyError: as for every write. Nothing was written in each case.
    """
    if not external_id.strip():
        raise InvalidValueError("add session: its id is blank")
    for name, text in (("session id", external_id), ("project", project), ("agent", agent)):
        checked_text(text, name)
    with store.writing() as conn:
        new_id, run = _next(conn, external_id)
        session = SessionRow(
            id=new_id,
            external_id=external_id,
            run=run,
            root_id=new_id if parent_id is None else _root_of(conn, parent_id),
            parent_id=parent_id,
            project=project,
            agent=agent,
            started_at_ms=store.now_ms() if started_at_ms is None else started_at_ms,
            ended_at_ms=ended_at_ms,
            outcome=outcome,
        )
        conn.execute(
            "INSERT INTO td_session (id, external_id, run, root_id, parent_id, project, agent, started_at, "
            "ended_at, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session.id, session.external_id, session.run, session.root_id, session.parent_id, session.project,
                session.agent, session.started_at_ms, session.ended_at_ms, session.outcome,
            ),
        )  # fmt: skip
    return session


def _next(conn: apsw.Connection, external_id: str) -> tuple[int, int]:
    """The next session's row number, and the next run of this external id."""
    found: Any = conn.execute(
        "SELECT (SELECT coalesce(max(id), 0) + 1 FROM td_session), "
        "(SELECT coalesce(max(run), 0) + 1 FROM td_session WHERE external_id = ?)",
        (external_id,),
    ).fetchone()
    return found[0], found[1]


def _root_of(conn: apsw.Connection, parent_id: int) -> int:
    found: Any = conn.execute("SELECT root_id FROM td_session WHERE id = ?", (parent_id,)).fetchone()
    if found is None:
        raise NotFoundError(f"add session: there is no parent session {parent_id}")
    return int(found[0])
