"""The facts of every memory worked out in plain Python from the raw rows: what the SQL of the library must find."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import apsw

from tierdeck.promote.rules import Block, Facts
from tierdeck.store import Store
from tierdeck.times import parse_time_ms

WINDOW_ROOTS = 3


@dataclass(slots=True)
class _Use:
    pulls: int = 0
    first_at: int = 2**62
    last_at: int = 0
    ok: bool = False
    bad: bool = False


@dataclass(slots=True)
class _Rows:
    """The raw rows, grouped by memory."""

    nodes: list[Any]
    sessions: dict[int, tuple[int, str | None]]
    pulls: dict[str, list[Any]]
    changes: dict[str, list[tuple[int, int, float, float]]]
    facts: dict[str, Any]
    holds: dict[str, list[Any]]
    dismissals: dict[str, Any]
    tracking_since: int


def plain_facts(store: Store, now_ms: int) -> dict[str, Facts]:
    """The facts of all memories, by id."""
    rows = store.read(_read)
    return {node[0]: _facts(node, rows, now_ms) for node in rows.nodes}


def _read(conn: apsw.Connection) -> _Rows:
    def grouped(sql: str) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = defaultdict(list)
        for node_id, *rest in conn.execute(sql):
            found[str(node_id)].append(tuple(rest))
        return found

    changes: dict[str, list[tuple[int, int, float, float]]] = defaultdict(list)
    for table, at in (("td_confidence", "at"), ("confidence_updates", "timestamp")):
        for node_id, when, number, old, new in conn.execute(
            f"SELECT node_id, {at}, id, old_confidence, new_confidence FROM {table}"
        ):
            changes[str(node_id)].append((parse_time_ms(when) or 0, number, old, new))
    sessions: Any = conn.execute("SELECT id, root_id, outcome FROM td_session")
    facts: Any = conn.execute("SELECT node_id, tier, tier_after, counted_after, moved_at FROM td_facts")
    dismissals: Any = conn.execute("SELECT node_id, tier, at, last_pull_id FROM td_dismissal")
    tracking: Any = conn.execute("SELECT value FROM td_setting WHERE key = 'tracking_since'").get
    return _Rows(
        nodes=conn.execute("SELECT id, tier, confidence, created_at, last_accessed FROM nodes").fetchall(),
        sessions={number: (root, outcome) for number, root, outcome in sessions},
        pulls=grouped("SELECT node_id, id, session_id, outcome, at FROM td_access WHERE kind = 'pull' ORDER BY id"),
        changes=changes,
        facts={node_id: tuple(rest) for node_id, *rest in facts},
        holds=grouped("SELECT node_id, until, released_at FROM td_hold"),
        dismissals={node_id: tuple(rest) for node_id, *rest in dismissals},
        tracking_since=int(tracking),
    )


def _facts(node: Any, rows: _Rows, now_ms: int) -> Facts:
    node_id, tier, confidence, created_at, last_accessed = node
    known_tier, tier_after, counted_after, moved_at = rows.facts.get(node_id, (None, 0, 0, None))
    pulls = rows.pulls.get(node_id, [])
    uses = _uses(rows, [pull for pull in pulls if pull[0] > counted_after])
    accessed = parse_time_ms(last_accessed) or 0
    last_pull = max((use.last_at for use in uses.values()), default=None)
    in_archive = known_tier == tier == "archive"
    times = (("last accessed", accessed), ("last pull", last_pull), ("moved by hand", moved_at))
    return Facts(
        node_id=node_id,
        tier=str(tier),
        max_pulls=max((use.pulls for use in uses.values()), default=0),
        sessions=len(uses),
        successes=sum(use.ok for use in uses.values()),
        failures=sum(use.bad for use in uses.values()),
        confidence=confidence,
        confidence_held=_held(uses, rows.changes.get(node_id, []), confidence) if uses else None,
        has_history=node_id in rows.changes,
        last_use_ms=max(
            accessed or parse_time_ms(created_at) or 0, last_pull or 0, moved_at or 0, rows.tracking_since
        ),
        pulls_since=sum(pull[0] > tier_after for pull in pulls) if in_archive else 0,
        last_pull_ms=last_pull,
        block=_block(rows, node_id, tier, accessed, pulls, now_ms),
        future=tuple(name for name, at in times if at is not None and at > now_ms),
    )


def _uses(rows: _Rows, pulls: list[Any]) -> dict[int, _Use]:
    """The pulls by root session."""
    uses: dict[int, _Use] = defaultdict(_Use)
    for _, session, outcome, at in pulls:
        root, sessions_outcome = rows.sessions[session]
        worth = outcome or sessions_outcome or rows.sessions[root][1]
        use = uses[root]
        use.pulls += 1
        use.first_at, use.last_at = min(use.first_at, at), max(use.last_at, at)
        use.ok, use.bad = use.ok or worth == "success", use.bad or worth == "failure"
    return uses


def _held(uses: dict[int, _Use], changes: list[tuple[int, int, float, float]], today: float) -> float:
    latest = sorted(uses.items(), key=lambda item: (item[1].last_at, item[0]))[-WINDOW_ROOTS:]
    start = min(use.first_at for _, use in latest)
    values = [today]
    for at, _, old, new in changes:
        if at > start:
            values += [old, new]
    before = max((change for change in changes if change[0] <= start), default=None)
    return min([*values, *([before[3]] if before else [])])


def _block(
    rows: _Rows, node_id: str, tier: str | None, accessed: int, pulls: list[Any], now_ms: int
) -> Block | None:
    if any(
        released is None and (until is None or until > now_ms) for until, released in rows.holds.get(node_id, [])
    ):
        return "held"
    if node_id in rows.dismissals:
        dismissed_tier, at, last_pull_id = rows.dismissals[node_id]
        latest = pulls[-1][0] if pulls and node_id in rows.facts else 0
        if dismissed_tier == tier and last_pull_id >= latest and (at >= accessed or accessed > now_ms):
            return "dismissed"
    return None
