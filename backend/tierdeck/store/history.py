"""What happened to a memory: its moves between tiers, its confidence, and who looked at it when."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from tierdeck.model import Access, AccessKind, ConfidenceChange, SessionRow, TierMove
from tierdeck.store.filters import time_ms_sql
from tierdeck.store.rows import SQLValue, as_bytes, text_of
from tierdeck.store.sessions import SESSION_COLUMNS
from tierdeck.store.store import Store
from tierdeck.times import parse_time_ms


@dataclass(frozen=True, slots=True)
class AccessSummary:
    """How often a memory was looked at, by kind; `roots` counts the distinct root sessions that pulled it.

    `by_day` holds (day as "2026-11-30", pulls on it), oldest first, UTC. `counted_pulls` are the pulls since the
    latest move by hand: those that the rules count.
    """

    pulls: int = 0
    pushes: int = 0
    shown: int = 0
    maintenance: int = 0
    roots: int = 0
    first_pull_ms: int | None = None
    last_pull_ms: int | None = None
    by_day: tuple[tuple[str, int], ...] = ()
    counted_pulls: int = 0


# Both as `ConfidenceChange` has them; what can't be read as a time comes first.
_LOGGED = f"""
SELECT {", ".join(map(as_bytes, ("timestamp", "old_confidence", "new_confidence", "trigger_type", "trigger_id")))}
FROM confidence_updates WHERE node_id = ? ORDER BY {time_ms_sql("timestamp")}, rowid"""
_SEEN = """
SELECT at, old_confidence, new_confidence, 'unlogged', NULL FROM td_confidence WHERE node_id = ? ORDER BY at, id"""
# The family's program writes the value and its log row one after the other, the row's time in whole seconds.
_TWIN_MS = 5_000


def tier_moves(store: Store, node_id: str) -> list[TierMove]:
    """The memory's moves between tiers, oldest first; other programs' moves too. Spec: SPEC-02.19"""
    columns = ", ".join(as_bytes(f"l.{c}") for c in ("timestamp", "operation", "from_tier", "to_tier", "reasoning"))
    sql = f"""
        SELECT {columns}, l.rowid FROM evolution_log l
        WHERE EXISTS (
            SELECT 1 FROM json_each(CASE WHEN json_valid(l.node_ids) THEN l.node_ids ELSE '[]' END) j
            WHERE j.value = ?
        )
        ORDER BY {time_ms_sql("l.timestamp")}, l.rowid"""
    rows: list[Any] = store.read(lambda conn: conn.execute(sql, (node_id,)).fetchall())
    return [
        TierMove(_time(at), text_of(operation), _text(from_tier), _text(to_tier), _text(reasoning), int(row_id))
        for at, operation, from_tier, to_tier, reasoning, row_id in rows
    ]


def confidence_changes(store: Store, node_id: str) -> list[ConfidenceChange]:
    """The recorded steps of the memory's confidence, oldest first; a value that is no number shows as NaN.

    They are those of the family's log and, in a store of ours, those that no program logged: a trigger saw them,
    and their `trigger` is the word "unlogged". Where both tell of one change, it is given once, as the log has it.
    """
    has_log, has_seen = store.has_table("confidence_updates"), store.has_table("td_confidence")
    logged, seen = store.read(
        lambda conn: (
            _changes(conn, _LOGGED, node_id) if has_log else [],
            _changes(conn, _SEEN, node_id) if has_seen else [],
        )
    )
    return sorted([*logged, *_without_twin(seen, logged)], key=lambda change: change.at_ms or 0)


def accesses(store: Store, node_id: str, *, limit_rows: int = 100) -> list[Access]:
    """The latest looks at the memory, newest first; none in a store without our tables."""
    if not store.has_table("td_access"):
        return []
    sql = f"""
        SELECT a.node_id, a.kind, a.outcome, a.at, {SESSION_COLUMNS}
        FROM td_access a JOIN td_session s ON s.id = a.session_id
        WHERE a.node_id = ? ORDER BY a.at DESC, a.id DESC LIMIT ?"""
    rows: list[Any] = store.read(lambda conn: conn.execute(sql, (node_id, limit_rows)).fetchall())
    return [Access(row[0], SessionRow(*row[4:]), AccessKind(row[1]), row[2], row[3]) for row in rows]


def access_summary(store: Store, node_id: str) -> AccessSummary:
    """All recorded looks at the memory, counted; zeros in a store without our tables."""
    if not store.has_table("td_access"):
        return AccessSummary()
    counted_after = "(SELECT counted_after FROM td_facts WHERE node_id = a.node_id)"
    evidence = f"a.id > coalesce({counted_after}, 0)" if store.has_table("td_facts") else "1"
    return store.read(lambda conn: _summary(conn, node_id, evidence))


def _summary(conn: apsw.Connection, node_id: str, evidence: str) -> AccessSummary:
    by_kind: Any = conn.execute("SELECT kind, count(*) FROM td_access WHERE node_id = ? GROUP BY kind", (node_id,))
    kinds = dict(by_kind.fetchall())
    pulled: Any = conn.execute(
        f"SELECT count(DISTINCT s.root_id), min(a.at), max(a.at), coalesce(sum({evidence}), 0) FROM td_access a "
        "JOIN td_session s ON s.id = a.session_id WHERE a.node_id = ? AND a.kind = 'pull'",
        (node_id,),
    ).fetchone()
    days: Any = conn.execute(
        "SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, count(*) FROM td_access "
        "WHERE node_id = ? AND kind = 'pull' GROUP BY day ORDER BY day",
        (node_id,),
    ).fetchall()
    return AccessSummary(
        pulls=kinds.get("pull", 0),
        pushes=kinds.get("push", 0),
        shown=kinds.get("shown", 0),
        maintenance=kinds.get("maintenance", 0),
        roots=pulled[0],
        first_pull_ms=pulled[1],
        last_pull_ms=pulled[2],
        by_day=tuple((text_of(day), count) for day, count in days),
        counted_pulls=pulled[3],
    )


def _changes(conn: apsw.Connection, sql: str, node_id: str) -> list[ConfidenceChange]:
    rows: Any = conn.execute(sql, (node_id,))
    return [
        ConfidenceChange(_time(at), _number(old), _number(new), text_of(trigger), _text(trigger_id))
        for at, old, new, trigger, trigger_id in rows
    ]


def _without_twin(
    seen: Sequence[ConfidenceChange], logged: Sequence[ConfidenceChange]
) -> Iterator[ConfidenceChange]:
    """Those seen that the log does not have: same values at about the same time, each row of it for one only."""
    left: dict[tuple[float, float], list[int]] = defaultdict(list)
    for change in logged:
        left[change.old, change.new].append(change.at_ms or 0)
    for change in seen:
        times, at = left[change.old, change.new], change.at_ms or 0
        distance, nearest = min(((abs(time - at), time) for time in times), default=(_TWIN_MS + 1, 0))
        if distance > _TWIN_MS:
            yield change
        else:
            times.remove(nearest)


def _time(value: SQLValue) -> int | None:
    return parse_time_ms(text_of(value) if isinstance(value, bytes) else value)


def _text(value: SQLValue) -> str | None:
    return None if value is None else text_of(value)


def _number(value: SQLValue) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
