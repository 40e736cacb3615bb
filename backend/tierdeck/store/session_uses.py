"""What sessions did with memories, counted by kind: of the latest sessions, or of those that met one memory."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from tierdeck.model import SessionRow
from tierdeck.store.sessions import SESSION_COLUMNS
from tierdeck.store.store import Store

_COUNTS = (
    "r.external_id, count(*) FILTER (WHERE a.kind = 'pull'), count(*) FILTER (WHERE a.kind = 'push'), "
    "count(*) FILTER (WHERE a.kind = 'shown'), count(*) FILTER (WHERE a.kind = 'maintenance'), max(a.at)"
)
_FIELDS = len(fields(SessionRow))  # as many as SESSION_COLUMNS


@dataclass(frozen=True, slots=True)
class SessionUse:
    """A session with its looks at memories, by kind. `root` is the external id of the session it all began with.

    `outcome` is that of the session's latest look that has one, else the session's own.
    """

    session: SessionRow
    root: str
    pulls: int
    pushes: int
    shown: int
    maintenance: int
    last_ms: int | None
    outcome: str | None


def session_uses(
    store: Store, *, project: str | None = None, agent: str | None = None, limit_rows: int = 50
) -> list[SessionUse]:
    """The latest sessions with what each looked at, the latest begun first; none in a store without our tables.

    Args:
        project: only sessions of this project; exactly so.
        agent: only sessions of this agent; exactly so.
    """
    if not store.has_table("td_session"):
        return []
    sql = f"""
        SELECT {SESSION_COLUMNS}, {_COUNTS}, NULL FROM (
            SELECT * FROM td_session WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR agent = ?2)
            ORDER BY started_at DESC, id DESC LIMIT ?3
        ) s JOIN td_session r ON r.id = s.root_id LEFT JOIN td_access a ON a.session_id = s.id
        GROUP BY s.id ORDER BY s.started_at DESC, s.id DESC"""
    rows: list[Any] = store.read(lambda conn: conn.execute(sql, (project, agent, limit_rows)).fetchall())
    return [_use_of(row) for row in rows]


def uses_of_node(store: Store, node_id: str, *, limit_rows: int = 100) -> list[SessionUse]:
    """The sessions that looked at a memory, with their looks at it alone; the latest look first."""
    if not store.has_table("td_access"):
        return []
    sql = f"""
        SELECT {SESSION_COLUMNS}, {_COUNTS}, (
            SELECT o.outcome FROM td_access o WHERE o.node_id = ?1 AND o.session_id = s.id
            AND o.outcome IS NOT NULL ORDER BY o.id DESC LIMIT 1
        ) FROM td_access a JOIN td_session s ON s.id = a.session_id JOIN td_session r ON r.id = s.root_id
        WHERE a.node_id = ?1 GROUP BY s.id ORDER BY max(a.at) DESC, max(a.id) DESC LIMIT ?2"""
    rows: list[Any] = store.read(lambda conn: conn.execute(sql, (node_id, limit_rows)).fetchall())
    return [_use_of(row) for row in rows]


def _use_of(row: Any) -> SessionUse:
    session = SessionRow(*row[:_FIELDS])
    root, pulls, pushes, shown, maintenance, last_ms, own = row[_FIELDS:]
    return SessionUse(session, root, pulls, pushes, shown, maintenance, last_ms, own or session.outcome)
