"""What promotion keeps, looked over: its counts, its log, what is held, and clocks that were wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw

from tierdeck.maintenance.health import DETAILS, Check
from tierdeck.promote.count_check import CountCheck, count_differences
from tierdeck.promote.hold_rows import holds_in
from tierdeck.promote.log import log_head
from tierdeck.promote.log_check import verify_log
from tierdeck.store import Store, StoreKind, time_ms_sql
from tierdeck.store.rows import as_bytes, text_of

REPAIR_COUNTS = "tierdeck doctor --repair promotion-counts"
REPAIR_LOG = "tierdeck doctor --repair promotion-log"
# Some 2 s each on two slow cores; a longer log or more accesses are looked at only when all is asked for.
MAX_ACCESSES = 500_000
MAX_LOG_ROWS = 100_000

_UNTRACKED = "no accesses are recorded in this store"
_NAMES = ("promotion-counts", "promotion-log", "holds")
# A time of the memory itself, then what promotion keeps of it.
_FUTURE = f"SELECT {as_bytes('n.id')}, 'last accessed' FROM nodes n WHERE {time_ms_sql('n.last_accessed')} > ?"
_FUTURE_FACTS = (
    f" UNION ALL SELECT {as_bytes('f.node_id')}, 'last pull' FROM td_facts f WHERE f.last_pull > ?"
    f" UNION ALL SELECT {as_bytes('f.node_id')}, 'moved by hand' FROM td_facts f WHERE f.moved_at > ?"
)


def check_promotion(store: Store, *, is_thorough: bool) -> list[Check]:
    """The counts against the accesses, the log's chain, and holds that another program passed over."""
    if not store.has_table("td_facts"):
        return [Check(name, "info", _UNTRACKED) for name in _NAMES]
    return [
        _limited("promotion-counts", store, "td_access", MAX_ACCESSES, _check_counts, is_thorough=is_thorough),
        _limited("promotion-log", store, "td_promotion_log", MAX_LOG_ROWS, _check_log, is_thorough=is_thorough),
        _check_holds(store),
    ]


def check_clock(store: Store) -> Check:
    """Memories that were used or moved after now: some program's clock was wrong, and they count as used now."""
    now = store.now_ms()
    has_facts = store.has_table("td_facts")
    sql, params = (_FUTURE + _FUTURE_FACTS, (now, now, now)) if has_facts else (_FUTURE, (now,))
    rows: list[Any] = store.read(lambda conn: conn.execute(sql, params).fetchall())
    if not rows:
        return Check("clock", "ok", "no memory was used in the future")
    count = len({node_id for node_id, _ in rows})
    text = f"found {count:,}: memories used in the future by some clock; they count as used now, not as stale"
    details = tuple(f"{text_of(node_id)}: {what} is in the future" for node_id, what in rows[:DETAILS])
    return Check("clock", "warn", text, None, details)


def _limited(
    name: str, store: Store, table: str, limit_rows: int, look: Callable[[Store], Check], *, is_thorough: bool
) -> Check:
    count = store.read(lambda conn: int(conn.execute(f"SELECT count(*) FROM {table}").get))
    if count <= limit_rows or is_thorough:
        return look(store)
    return Check(name, "info", f"{count:,} rows of {table} were not gone through; `--thorough` does")


def _check_counts(store: Store) -> Check:
    has_log, is_own = store.has_table("confidence_updates"), store.kind is StoreKind.OWN

    def look(conn: apsw.Connection) -> CountCheck:
        return count_differences(conn, has_log=has_log, is_own=is_own, max_examples=DETAILS)

    found = store.read(look)
    if not found.memories:
        return Check("promotion-counts", "ok", "what the rules count is what the accesses say")
    details = tuple(f"{e.node_id}: {e.what} is {_said(e.kept)}, made anew {_said(e.anew)}" for e in found.examples)
    text = f"found {found.memories:,}: memories whose accesses say something else than the rules count"
    return Check("promotion-counts", "bad", text, REPAIR_COUNTS, details)


def _check_log(store: Store) -> Check:
    found = verify_log(store)
    breaks = tuple(f"{b.reason} (by {b.actor}): {b.old_head[:20]} became {b.new_head[:20]}" for b in found.breaks)
    if found.problem is not None:
        fix = REPAIR_LOG if log_head(store) != found.head else None
        return Check("promotion-log", "bad", found.problem, fix, breaks[-DETAILS:])
    text = f"{found.rows:,} rows in one chain"
    if breaks:
        text += f"; {len(breaks):,} times it went on from another end, each on record"
        return Check("promotion-log", "info", text, None, breaks[-DETAILS:])
    return Check("promotion-log", "ok", text)


def _check_holds(store: Store) -> Check:
    held = store.read(lambda conn: holds_in(conn, None, store.now_ms()))
    moved = [hold for hold in held if hold.moved_to is not None]
    if not moved:
        return Check("holds", "ok", f"{len(held):,} memories are held, each where it was held")
    text = f"found {len(moved):,}: held memories that another program moved"
    details = tuple(f"{hold.node_id}: held in {hold.tier}, now in {hold.moved_to}" for hold in moved[:DETAILS])
    return Check("holds", "warn", text, None, details)


def _said(value: object) -> str:
    return "nothing" if value is None else str(value)
