"""The promotion log: every move of a memory and every decision about one, append-only and chained.

Triggers refuse a change and a removal of a row, and a new row that is not the next one. Whoever drops them still
breaks the chain: `row` says what each digest covers, `check.verify_log` finds the first row that does not fit. The
head, the number of rows and the last digest as "count:digest", is kept in td_setting and in each backup and export,
so that rows cut off the end show too.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import apsw

from tierdeck.errors import InvalidValueError, NotFoundError, StoreError
from tierdeck.promote.evidence.counts import LATEST_ACCESS
from tierdeck.promote.log.row import ENTRY_COLUMNS, LOG_COLUMNS, entry_of, row_digest, values_of
from tierdeck.promote.records import LogDraft, LogEntry, LogFilter
from tierdeck.promote.rules import DAY_MS
from tierdeck.store import Store, get_setting
from tierdeck.store.rows import SQLValue
from tierdeck.store.settings import setting_in

HEAD_KEY = "promotion_log_head"
EMPTY_HEAD = "0:"
_EPOCH = date(1970, 1, 1)
_INSERT = (
    f"INSERT INTO td_promotion_log ({', '.join(LOG_COLUMNS)}) "
    f"VALUES ({', '.join(f':{column}' for column in LOG_COLUMNS)})"
)
# What stands at the end, and what a row says of the accesses; `counted_after` as it is after the move.
_STANDS = f"""SELECT coalesce((SELECT id FROM td_promotion_log ORDER BY id DESC LIMIT 1), 0),
    coalesce((SELECT digest FROM td_promotion_log ORDER BY id DESC LIMIT 1), ''),
    coalesce((SELECT value FROM td_setting WHERE key = '{HEAD_KEY}'), '{EMPTY_HEAD}'),
    {LATEST_ACCESS},
    coalesce((SELECT counted_after FROM td_facts WHERE node_id = ?), 0)"""


def append(conn: apsw.Connection, draft: LogDraft) -> int:
    """Write the next row, inside the caller's IMMEDIATE transaction, after what it tells of was written.

    Returns:
        The row's id.

    Raises:
        StoreError: the log does not end where its head says; the caller's transaction must be given up, so that
            nothing is moved without a row.
    """
    stands: Any = conn.execute(_STANDS, (draft.node_id,)).fetchone()
    last_id, last_digest, head, access_id, counted_after = stands
    fault = _fault(last_id, last_digest, head)
    if fault is not None:
        raise StoreError(
            f"log {draft.kind} of {draft.node_id[:80]}: {fault}; nothing was moved",
            hint="`tierdeck log verify` says what is wrong; `tierdeck doctor --repair promotion-log` goes on there",
        )
    row: dict[str, Any] = {
        **values_of(draft),
        "id": last_id + 1,
        "access_id": access_id,
        "counted_after": counted_after,
        "prev_digest": last_digest,
    }
    row["digest"] = row_digest(row)
    conn.execute(_INSERT, row)
    return int(row["id"])


def end_fault(conn: apsw.Connection) -> str | None:
    """Why no row can follow: the log does not end where its head says; None when one can."""
    stands: Any = conn.execute(_STANDS, ("",)).fetchone()
    last_id, last_digest, head, *_ = stands
    return _fault(last_id, last_digest, head)


def entries(
    store: Store, log_filter: LogFilter, *, before_id: int | None = None, limit_rows: int = 100
) -> list[LogEntry]:
    """The rows that the filter lets through, newest first; none in a store without our tables.

    Args:
        before_id: only rows before this one: the last id of the page before.
        limit_rows: how many rows at most, 1 or more.

    Raises:
        InvalidValueError: the limit is none.
    Spec: SPEC-09.14
    """
    if limit_rows < 1:
        raise InvalidValueError(f"list promotion log: {limit_rows} rows is no limit", hint="1 or more")
    if not store.has_table("td_promotion_log"):
        return []
    where, params = _where(log_filter)
    if before_id is not None:
        where, params = f"{where} AND l.id < ?", [*params, before_id]
    sql = f"SELECT {ENTRY_COLUMNS} FROM td_promotion_log l WHERE {where} ORDER BY l.id DESC LIMIT ?"
    rows = store.read(lambda conn: conn.execute(sql, [*params, limit_rows]).fetchall())
    return [entry_of(row) for row in rows]


def entry(store: Store, log_id: int) -> LogEntry:
    """One row of the log.

    Raises:
        NotFoundError: there is none with this id.
    """
    found = None
    if store.has_table("td_promotion_log"):
        found = store.read(lambda conn: entry_in(conn, log_id))
    if found is None:
        raise NotFoundError(f"read promotion log: there is no row {log_id} in {store.path}")
    return found


def entry_in(conn: apsw.Connection, log_id: int) -> LogEntry | None:
    """One row of the log as the connection sees it now; None when there is none."""
    row = conn.execute(f"SELECT {ENTRY_COLUMNS} FROM td_promotion_log l WHERE l.id = ?", (log_id,)).fetchone()
    return None if row is None else entry_of(row)


def count_entries(store: Store, log_filter: LogFilter) -> int:
    """How many rows the filter lets through."""
    if not store.has_table("td_promotion_log"):
        return 0
    where, params = _where(log_filter)
    sql = f"SELECT count(*) FROM td_promotion_log l WHERE {where}"
    found: Any = store.read(lambda conn: conn.execute(sql, params).fetchone())
    return int(found[0])


def moves_per_day(store: Store, days: int, now_ms: int | None = None) -> tuple[tuple[str, int], ...]:
    """How many moves there were on each of the latest days, today the last: ("2026-11-30", 12), oldest first, UTC.

    Every day is listed, those without a move too. Undos are not in it, nor are moves that other programs made.

    Args:
        days: how many days, 1 or more.
        now_ms: the moment whose day is the last; default: now.

    Raises:
        InvalidValueError: that is no span.
    """
    if days < 1:
        raise InvalidValueError(f"count moves: {days} days is no span", hint="1 or more")
    today = (store.now_ms() if now_ms is None else now_ms) // DAY_MS
    counted: dict[int, int] = {}
    if store.has_table("td_promotion_log"):
        sql = (
            f"SELECT at / {DAY_MS} AS day, count(*) FROM td_promotion_log "
            "WHERE from_tier IS NOT to_tier AND kind <> 'undo' AND at >= ? AND at < ? GROUP BY day"
        )
        span = ((today - days + 1) * DAY_MS, (today + 1) * DAY_MS)
        rows: Any = store.read(lambda conn: conn.execute(sql, span).fetchall())
        counted = dict(rows)
    return tuple((_day(day), counted.get(day, 0)) for day in range(today - days + 1, today + 1))


def log_head(store: Store) -> str:
    """How many rows the log has and the digest of the last, as "count:digest"; "0:" when there is none."""
    return get_setting(store, HEAD_KEY) or EMPTY_HEAD


def head_in(conn: apsw.Connection) -> str:
    """The head that a store with a promotion log keeps, as the connection sees it now."""
    return setting_in(conn, HEAD_KEY) or EMPTY_HEAD


def _day(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()


def _fault(last_id: int, last_digest: str, head: object) -> str | None:
    if head == f"{last_id}:{last_digest}":
        return None
    rows = str(head).partition(":")[0][:20]
    return f"the promotion log ends with row {last_id}, its head says {rows} rows"


def _where(log_filter: LogFilter) -> tuple[str, list[SQLValue]]:
    """The filter as a condition on `td_promotion_log l`, and its parameters in order."""
    wanted: list[tuple[str, SQLValue]] = [
        ("l.node_id = ?", log_filter.node_id),
        ("l.actor = ?", log_filter.actor),
        ("? IN (l.from_tier, l.to_tier)", log_filter.tier),
        ("l.rule = ?", log_filter.rule),
        ("l.kind = ?", log_filter.kind),
        ("l.run_id = ?", log_filter.run_id),
        ("l.at >= ?", log_filter.since_ms),
        ("l.at < ?", log_filter.until_ms),
    ]
    given = [(sql, value) for sql, value in wanted if value is not None]
    return " AND ".join(["1", *(sql for sql, _ in given)]), [value for _, value in given]
