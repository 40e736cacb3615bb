"""What promotion keeps, looked over: its counts, its log, what is held, and clocks that were wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw

from tierdeck.maintenance.health import DETAILS, Check
from tierdeck.promote.evidence.count_check import CountCheck, count_differences
from tierdeck.promote.evidence.facts_sql import has_confidence_log
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import log_head
from tierdeck.promote.moves.hold_rows import holds_in
from tierdeck.store import Store, StoreKind, time_ms_sql
from tierdeck.store.rows import as_bytes, text_of

REPAIR_COUNTS = "tierdeck doctor --repair promotion-counts"
REPAIR_LOG = "tierdeck doctor --repair promotion-log"
# Some 2 s each on two slow cores; a longer log or more accesses are looked at only when all is asked for.
MAX_ACCESSES = 500_000
MAX_LOG_ROWS = 100_000

# A time of the memory itself, then what promotion keeps of it.
_FUTURE = f"SELECT {as_bytes('n.id')}, 'last accessed' FROM nodes n WHERE {time_ms_sql('n.last_accessed')} > ?"
_FUTURE_FACTS = (
    f" UNION ALL SELECT {as_bytes('f.node_id')}, 'last pull' FROM td_facts f WHERE f.last_pull > ?"
    f" UNION ALL SELECT {as_bytes('f.node_id')}, 'moved by hand' FROM td_facts f WHERE f.moved_at > ?"
)


def check_counts(store: Store, *, is_thorough: bool) -> Check:
    """Whether what the rules count is what the accesses and the log say."""
    return _looked_at(
        "promotion-counts", store, "td_access", None if is_thorough else MAX_ACCESSES, _compare_counts
    )


def check_log(store: Store, *, is_thorough: bool) -> Check:
    """Whether each row of the promotion log follows the one before, up to the head that the store keeps."""
    limit_rows = None if is_thorough else MAX_LOG_ROWS
    return _looked_at("promotion-log", store, "td_promotion_log", limit_rows, _verify_log)


def check_holds(store: Store) -> Check:
    """Whether every held memory is where it was held: another program knows no holds."""
    return _looked_at("holds", store, "td_hold", None, _compare_holds)


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


def _looked_at(
    name: str, store: Store, table: str, limit_rows: int | None, look: Callable[[Store], Check]
) -> Check:
    if not store.has_table(table) or not store.has_table("td_facts"):
        return Check(name, "info", "no accesses are recorded in this store")
    if limit_rows is not None:
        count = store.read(lambda conn: int(conn.execute(f"SELECT count(*) FROM {table}").get))
        if count > limit_rows:
            return Check(name, "info", f"{count:,} rows of {table} were not gone through; `--thorough` does")
    return look(store)


def _compare_counts(store: Store) -> Check:
    logs_confidence, is_own = has_confidence_log(store), store.kind is StoreKind.OWN

    def look(conn: apsw.Connection) -> CountCheck:
        return count_differences(conn, logs_confidence=logs_confidence, is_own=is_own, max_examples=DETAILS)

    found = store.read(look)
    if not found.memories:
        return Check("promotion-counts", "ok", "what the rules count is what the accesses say")
    details = tuple(f"{e.node_id}: {e.what} is {_said(e.kept)}, made anew {_said(e.anew)}" for e in found.examples)
    text = f"found {found.memories:,}: memories whose accesses say something else than the rules count"
    return Check("promotion-counts", "bad", text, REPAIR_COUNTS, details)


def _verify_log(store: Store) -> Check:
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


def _compare_holds(store: Store) -> Check:
    held = store.read(lambda conn: holds_in(conn, None, store.now_ms()))
    moved = [hold for hold in held if hold.moved_to is not None]
    if not moved:
        return Check("holds", "ok", f"{len(held):,} memories are held, each where it was held")
    text = f"found {len(moved):,}: held memories that another program moved"
    details = tuple(f"{hold.node_id}: held in {hold.tier}, now in {hold.moved_to}" for hold in moved[:DETAILS])
    return Check("holds", "warn", text, None, details)


def _said(value: object) -> str:
    return "nothing" if value is None else str(value)
