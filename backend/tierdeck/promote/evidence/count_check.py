"""Whether the counts that the rules read are what the accesses and the log give when they are made anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from tierdeck.promote.evidence.counts import EVIDENCE
from tierdeck.promote.evidence.facts_sql import held_sql
from tierdeck.store.rows import as_bytes, text_of

_SUMS = ("sessions", "most pulls in one", "successes", "failures", "first pull", "last pull")
_KEPT = "f.roots, f.max_in_root, f.ok, f.bad, f.first_pull, f.last_pull"
_SUMMED = "coalesce(s.roots, 0), coalesce(s.most, 0), coalesce(s.ok, 0), coalesce(s.bad, 0), s.first_at, s.last_at"
_ID = as_bytes("f.node_id")
# From td_use, which is itself compared with the accesses: those are gone through once.
_WRONG_SUMS = f"""
WITH sums AS MATERIALIZED (
    SELECT node, count(*) AS roots, max(pulls) AS most, sum(ok > 0) AS ok, sum(bad > 0) AS bad,
        min(first_at) AS first_at, max(last_at) AS last_at
    FROM td_use GROUP BY node
)
SELECT {_ID}, {_KEPT}, {_SUMMED} FROM td_facts f LEFT JOIN sums s ON s.node = f.node
WHERE ({_KEPT}) IS NOT ({_SUMMED})"""
_USE = "node, root, pulls, first_at, last_at, ok, bad"
_WRONG_USE = f"""
WITH anew AS MATERIALIZED ({EVIDENCE}), use AS (SELECT {_USE} FROM anew WHERE pulls > 0),
    latest AS MATERIALIZED (SELECT node, max(last_id) AS id FROM anew GROUP BY node)
SELECT {_ID}, 'root session', u.kept, u.anew FROM (
    SELECT node, root AS kept, NULL AS anew FROM (SELECT {_USE} FROM td_use EXCEPT SELECT {_USE} FROM use)
    UNION ALL
    SELECT node, NULL, root FROM (SELECT {_USE} FROM use EXCEPT SELECT {_USE} FROM td_use)
) u LEFT JOIN td_facts f ON f.node = u.node
UNION ALL
SELECT {_ID}, 'latest pull''s place', f.last_pull_id, coalesce(l.id, 0)
FROM td_facts f LEFT JOIN latest l ON l.node = f.node WHERE f.last_pull_id IS NOT coalesce(l.id, 0)"""
_UNCOUNTED = f"""
SELECT {as_bytes("n.id")}, 'row', NULL, 1 FROM nodes n
WHERE n.id IN (SELECT node_id FROM td_access WHERE kind = 'pull')
    AND NOT EXISTS (SELECT 1 FROM td_facts f WHERE f.node_id = n.id)"""
_WRONG_PLACE = f"""
SELECT {_ID}, 'counted after', f.counted_after, l.counted_after
FROM (SELECT node_id, max(id) AS id FROM td_promotion_log GROUP BY node_id) latest
    JOIN td_promotion_log l ON l.id = latest.id JOIN td_facts f ON f.node_id = latest.node_id
WHERE l.counted_after IS NOT f.counted_after"""
_WRONG_TIER = f"""
SELECT {_ID}, 'tier', {as_bytes("f.tier")}, {as_bytes("n.tier")} FROM td_facts f JOIN nodes n ON n.id = f.node_id
WHERE f.tier IS NOT n.tier"""
# Lower than what is made anew is no fault: a change may be older than the window, which only the next pull tells.
_WRONG_HELD = """
SELECT {id}, 'confidence held', f.conf_min, {held}
FROM td_facts f JOIN nodes n ON n.id = f.node_id
WHERE f.roots > 0 AND n.confidence IS NOT NULL AND (f.conf_min IS NULL OR f.conf_min > {held})"""


@dataclass(frozen=True, slots=True)
class CountDifference:
    """One thing that is kept of a memory and is not what its accesses give; None: there is none."""

    node_id: str
    what: str
    kept: int | float | str | None
    anew: int | float | str | None


@dataclass(frozen=True, slots=True)
class CountCheck:
    """How many memories have a wrong count, and some of what is wrong."""

    memories: int
    examples: tuple[CountDifference, ...]


def count_differences(
    conn: apsw.Connection, *, logs_confidence: bool, is_own: bool, max_examples: int = 20
) -> CountCheck:
    """Compare td_use and td_facts with what the accesses and the log give; reads only.

    Args:
        logs_confidence: whether the store has the family's log of confidences.
        is_own: in an adopted store tier and confidence are looked up each time, and what is kept of them may lag.
        max_examples: how many differences are given at most.

    Returns:
        Zero memories and no example when all agree. `recount` puts right what is not.
    """
    wrong: set[str] = set()
    examples: list[CountDifference] = []
    for difference in _differences(conn, logs_confidence=logs_confidence, is_own=is_own):
        wrong.add(difference.node_id)
        if len(examples) < max_examples:
            examples.append(difference)
    return CountCheck(len(wrong), tuple(examples))


def _differences(conn: apsw.Connection, *, logs_confidence: bool, is_own: bool) -> Iterator[CountDifference]:
    sums: Any = conn.execute(_WRONG_SUMS)
    for node_id, *values in sums:
        kept, anew = values[: len(_SUMS)], values[len(_SUMS) :]
        for what, old, new in zip(_SUMS, kept, anew, strict=True):
            if old != new:
                yield CountDifference(text_of(node_id), what, old, new)
    checks = [_UNCOUNTED, _WRONG_USE, _WRONG_PLACE]
    if is_own:
        checks += [_WRONG_TIER, _WRONG_HELD.format(id=_ID, held=held_sql(logs_confidence=logs_confidence))]
    for sql in checks:
        rows: Any = conn.execute(sql)
        for node_id, what, old, new in rows:
            yield CountDifference(text_of(node_id), what, _shown(old), _shown(new))


def _shown(value: int | float | str | bytes | None) -> int | float | str | None:
    return text_of(value) if isinstance(value, bytes) else value
