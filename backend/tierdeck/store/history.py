"""What happened to a memory: its moves between tiers, its confidence, and who looked at it when."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck.model import Access, AccessKind, ConfidenceChange, Outcome, Session, TierMove
from tierdeck.store.filters import time_ms_sql
from tierdeck.store.rows import text_of
from tierdeck.store.store import Store
from tierdeck.times import parse_time_ms

_SESSION_COLUMNS = (
    "s.id, s.external_id, s.run, s.root_id, s.parent_id, s.project, s.agent, s.started_at, s.ended_at, s.outcome"
)


@dataclass(frozen=True, slots=True)
class AccessSummary:
    """How often a memory was looked at, by kind; `roots` counts the distinct root sessions that pulled it.

    `by_day` holds (day as "2026-11-30", pulls on it), oldest first, UTC.
    """

    pulls: int = 0
    pushes: int = 0
    shown: int = 0
    maintenance: int = 0
    roots: int = 0
    first_pull_ms: int | None = None
    last_pull_ms: int | None = None
    by_day: tuple[tuple[str, int], ...] = ()


def tier_moves(store: Store, node_id: str) -> list[TierMove]:
    """The memory's moves between tiers, oldest first. Spec: SPEC-02.19"""
    sql = f"""
        SELECT l.timestamp, l.operation, l.from_tier, l.to_tier, l.reasoning FROM evolution_log l
        WHERE EXISTS (
            SELECT 1 FROM json_each(CASE WHEN json_valid(l.node_ids) THEN l.node_ids ELSE '[]' END) j
            WHERE j.value = ?
        )
        ORDER BY {time_ms_sql("l.timestamp")}, l.id"""
    rows = store.read(lambda conn: conn.execute(sql, (node_id,)).fetchall())
    return [
        TierMove(parse_time_ms(at), str(operation), from_tier, to_tier, reasoning)
        for at, operation, from_tier, to_tier, reasoning in rows
    ]


def confidence_changes(store: Store, node_id: str) -> list[ConfidenceChange]:
    """The recorded steps of the memory's confidence, oldest first."""
    if not store.has_table("confidence_updates"):
        return []
    sql = f"""
        SELECT timestamp, old_confidence, new_confidence, trigger_type, trigger_id FROM confidence_updates
        WHERE node_id = ? ORDER BY {time_ms_sql("timestamp")}, id"""
    rows = store.read(lambda conn: conn.execute(sql, (node_id,)).fetchall())
    return [
        ConfidenceChange(parse_time_ms(at), float(old), float(new), str(trigger), trigger_id)
        for at, old, new, trigger, trigger_id in rows
    ]


def accesses(store: Store, node_id: str, *, limit_rows: int = 100) -> list[Access]:
    """The latest looks at the memory, newest first; none in a store without our tables."""
    if not store.has_table("td_access"):
        return []
    sql = f"""
        SELECT a.node_id, a.kind, a.outcome, a.at, {_SESSION_COLUMNS}
        FROM td_access a JOIN td_session s ON s.id = a.session_id
        WHERE a.node_id = ? ORDER BY a.at DESC, a.id DESC LIMIT ?"""
    rows = store.read(lambda conn: conn.execute(sql, (node_id, limit_rows)).fetchall())
    return [Access(row[0], Session(*row[4:]), AccessKind(row[1]), row[2], row[3]) for row in rows]


def access_summary(store: Store, node_id: str) -> AccessSummary:
    """All recorded looks at the memory, counted; zeros in a store without our tables."""
    if not store.has_table("td_access"):
        return AccessSummary()

    def look(conn: apsw.Connection) -> AccessSummary:
        kinds = dict(
            conn.execute(
                "SELECT kind, count(*) FROM td_access WHERE node_id = ? GROUP BY kind", (node_id,)
            ).fetchall()
        )
        roots, first, last = conn.execute(
            "SELECT count(DISTINCT s.root_id), min(a.at), max(a.at) FROM td_access a "
            "JOIN td_session s ON s.id = a.session_id WHERE a.node_id = ? AND a.kind = 'pull'",
            (node_id,),
        ).fetchall()[0]
        days = conn.execute(
            "SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, count(*) FROM td_access "
            "WHERE node_id = ? AND kind = 'pull' GROUP BY day ORDER BY day",
            (node_id,),
        ).fetchall()
        return AccessSummary(
            pulls=kinds.get("pull", 0),
            pushes=kinds.get("push", 0),
            shown=kinds.get("shown", 0),
            maintenance=kinds.get("maintenance", 0),
            roots=roots,
            first_pull_ms=first,
            last_pull_ms=last,
            by_day=tuple((text_of(day), count) for day, count in days),
        )

    return store.read(look)


def sessions(store: Store) -> list[Session]:
    """Every session, newest first; none in a store without our tables."""
    if not store.has_table("td_session"):
        return []
    sql = f"SELECT {_SESSION_COLUMNS} FROM td_session s ORDER BY s.started_at DESC, s.id DESC"
    return [Session(*row) for row in store.read(lambda conn: conn.execute(sql).fetchall())]


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
) -> Session:
    """Record a session; a known external id becomes a new run of it, a child shares its parent's root.

    Raises:
        NotFoundError: there is no session `parent_id`; nothing was written.
    """
    if not external_id:
        raise InvalidValueError("add session: its id is empty")
    started = store.now_ms() if started_at_ms is None else started_at_ms
    with store.writing() as conn:
        root_id = None
        if parent_id is not None:
            found = conn.execute("SELECT root_id FROM td_session WHERE id = ?", (parent_id,)).fetchone()
            if found is None:
                raise NotFoundError(f"add session {external_id}: there is no parent session {parent_id}")
            root_id = int(found[0])
        next_id = int(conn.execute("SELECT coalesce(max(id), 0) + 1 FROM td_session").fetchall()[0][0])
        run = int(
            conn.execute(
                "SELECT coalesce(max(run), 0) + 1 FROM td_session WHERE external_id = ?", (external_id,)
            ).fetchall()[0][0]
        )
        session = Session(
            next_id, external_id, run, root_id or next_id, parent_id, project, agent, started, ended_at_ms, outcome
        )
        conn.execute(
            "INSERT INTO td_session (id, external_id, run, root_id, parent_id, project, agent, started_at, ended_at, "
            "outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session.id, external_id, run, session.root_id, parent_id, project, agent, started, ended_at_ms, outcome
            ),
        )  # fmt: skip
        return session


def add_access(
    store: Store,
    node_id: str,
    session_id: int,
    kind: AccessKind,
    *,
    outcome: Outcome | None = None,
    at_ms: int | None = None,
) -> None:
    """Record one look at a memory; a pull also moves its `last_accessed` and `access_count`, no text table.

    Raises:
        NotFoundError: no such memory or session; nothing was written.
    """
    at = store.now_ms() if at_ms is None else at_ms
    with store.writing() as conn:
        if conn.execute("SELECT 1 FROM nodes WHERE id = ?", (node_id,)).fetchone() is None:
            raise NotFoundError(f"record access: there is no memory {node_id}")
        if conn.execute("SELECT 1 FROM td_session WHERE id = ?", (session_id,)).fetchone() is None:
            raise NotFoundError(f"record access to {node_id}: there is no session {session_id}")
        conn.execute(
            "INSERT INTO td_access (node_id, session_id, kind, outcome, at) VALUES (?, ?, ?, ?, ?)",
            (node_id, session_id, AccessKind(kind).value, outcome, at),
        )
        if kind is AccessKind.PULL:
            conn.execute(
                "UPDATE nodes SET last_accessed = max(coalesce(last_accessed, 0), ?), "
                "access_count = coalesce(access_count, 0) + 1 WHERE id = ?",
                (at, node_id),
            )
