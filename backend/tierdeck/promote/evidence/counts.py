"""The counts that the rules read, kept in the transaction of what they count: td_use and td_facts.

All can be made anew from the accesses (`recount`); what is kept and what is made anew must agree
(`count_differences`). One pull changes them by what it adds: summing up a memory's root sessions each time would
cost the more the more it is used.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import apsw

from tierdeck.model import Outcome
from tierdeck.promote.evidence.facts_sql import held_sql

# What an access is worth: its own outcome, else its session's, else that of the session it all began with.
WORTH = "coalesce(a.outcome, s.outcome, r.outcome)"
_IN_LIST = "(SELECT value FROM json_each(:ids))"
# The place in the sequence of accesses that is reached now.
LATEST_ACCESS = "(SELECT coalesce(max(id), 0) FROM td_access)"

# A memory's tier is noted too: where another program moved it unseen, only what is pulled from now on was pulled
# since.
_NOTE_PULL = """
INSERT INTO td_facts (node_id, tier, tier_after, last_pull_id)
SELECT id, tier, ?2 - 1, ?2 FROM nodes WHERE id = ?1
ON CONFLICT (node_id) DO UPDATE SET last_pull_id = excluded.last_pull_id, tier = excluded.tier,
    tier_after = CASE WHEN tier IS excluded.tier THEN tier_after ELSE excluded.tier_after END
RETURNING node"""
_USE = """
INSERT INTO td_use (node, root, pulls, first_at, last_at, ok, bad) VALUES (?1, ?2, 1, ?3, ?3, ?4, ?5)
ON CONFLICT (node, root) DO UPDATE SET pulls = pulls + 1, first_at = min(first_at, excluded.first_at),
    last_at = max(last_at, excluded.last_at), ok = ok + excluded.ok, bad = bad + excluded.bad
RETURNING pulls, ok, bad"""
_IS_EVIDENCE = "a.id > f.counted_after"
_EVIDENCE = f"""
INSERT INTO td_use (node, root, pulls, first_at, last_at, ok, bad)
SELECT f.node, s.root_id, count(*), min(a.at), max(a.at),
    sum({WORTH} IS 'success'), sum({WORTH} IS 'failure')
FROM {{tables}} JOIN td_session r ON r.id = s.root_id
WHERE {{which}} AND a.kind = 'pull' AND {_IS_EVIDENCE} GROUP BY f.node, s.root_id"""
# CROSS JOIN: the loops as they stand here, whatever the planner knows of the sizes.
_EVIDENCE_OF_IDS = _EVIDENCE.format(
    tables="td_facts f CROSS JOIN td_access a ON a.node_id = f.node_id JOIN td_session s ON s.id = a.session_id",
    which=f"f.node_id IN {_IN_LIST}",
)
_EVIDENCE_OF_ROOTS = _EVIDENCE.format(
    tables="td_session s CROSS JOIN td_access a ON a.session_id = s.id JOIN td_facts f ON f.node_id = a.node_id",
    which=f"s.root_id IN (SELECT value FROM json_each(:roots)) AND f.node_id IN {_IN_LIST}",
)
# Everything at once, with the latest pull, which is remembered whether it is evidence or not.
EVIDENCE = f"""
SELECT f.node AS node, s.root_id AS root, count(*) FILTER (WHERE {_IS_EVIDENCE}) AS pulls,
    min(a.at) FILTER (WHERE {_IS_EVIDENCE}) AS first_at, max(a.at) FILTER (WHERE {_IS_EVIDENCE}) AS last_at,
    coalesce(sum({WORTH} IS 'success') FILTER (WHERE {_IS_EVIDENCE}), 0) AS ok,
    coalesce(sum({WORTH} IS 'failure') FILTER (WHERE {_IS_EVIDENCE}), 0) AS bad, max(a.id) AS last_id
FROM td_access a CROSS JOIN td_facts f ON f.node_id = a.node_id JOIN td_session s ON s.id = a.session_id
    JOIN td_session r ON r.id = s.root_id
WHERE a.kind = 'pull' GROUP BY f.node, s.root_id"""
_MISSING = f"""
INSERT INTO td_facts (node_id, tier, tier_after) SELECT n.id, n.tier, {LATEST_ACCESS} FROM nodes n
WHERE NOT EXISTS (SELECT 1 FROM td_facts f WHERE f.node_id = n.id)
    AND EXISTS (SELECT 1 FROM td_access a WHERE a.node_id = n.id AND a.kind = 'pull')"""
_NONE_ANEW = """
UPDATE td_facts SET roots = 0, max_in_root = 0, ok = 0, bad = 0, first_pull = NULL, last_pull = NULL,
    last_pull_id = 0, conf_min = NULL
WHERE (roots > 0 OR last_pull_id > 0) AND node NOT IN (SELECT node FROM temp.td_anew)"""
_SUMS_ANEW = """
UPDATE td_facts AS f SET roots = s.roots, max_in_root = s.most, ok = s.ok, bad = s.bad, first_pull = s.first_at,
    last_pull = s.last_at, last_pull_id = s.last_id,
    conf_min = CASE WHEN s.roots > 0 THEN (SELECT {held} FROM nodes n WHERE n.id = f.node_id) END
FROM (
    SELECT node, sum(pulls > 0) AS roots, max(pulls) AS most, sum(ok > 0) AS ok, sum(bad > 0) AS bad,
        min(first_at) AS first_at, max(last_at) AS last_at, max(last_id) AS last_id
    FROM temp.td_anew GROUP BY node
) s WHERE s.node = f.node"""


def ensure_facts(conn: apsw.Connection, ids: Sequence[str]) -> None:
    """A row of facts for each of these memories; in an adopted store also the tier that another program gave it."""
    names = {"ids": json.dumps(list(ids))}
    conn.execute(
        "INSERT INTO td_facts (node_id, tier, tier_after) "
        f"SELECT id, tier, {LATEST_ACCESS} FROM nodes WHERE id IN {_IN_LIST} ON CONFLICT (node_id) DO NOTHING",
        names,
    )
    # Moved by another program at some time before now: only what is pulled from now on was pulled since.
    conn.execute(
        f"UPDATE td_facts SET tier = n.tier, tier_after = {LATEST_ACCESS} FROM nodes n "
        f"WHERE n.id = td_facts.node_id AND n.tier IS NOT td_facts.tier AND td_facts.node_id IN {_IN_LIST}",
        names,
    )


def count_pull(
    conn: apsw.Connection, node_id: str, *, root_id: int, access_id: int, at_ms: int, worth: Outcome | None,
    logs_confidence: bool,
) -> None:  # fmt: skip
    """Count a pull that was just recorded.

    Args:
        worth: the outcome that counts for it now: its own, its session's or its root's.
        logs_confidence: whether the store has the family's log of confidences.
    """
    [(node,)] = conn.execute(_NOTE_PULL, (node_id, access_id)).fetchall()
    is_ok, is_bad = worth == "success", worth == "failure"
    [(pulls, ok, bad)] = conn.execute(_USE, (node, root_id, at_ms, is_ok, is_bad)).fetchall()
    # A root session counts once for each of its outcomes: with the first pull that brings it.
    added = (pulls == 1, pulls, is_ok and ok == 1, is_bad and bad == 1, at_ms, node)
    conn.execute(_add_up(logs_confidence=logs_confidence), added)


def count_outcome(
    conn: apsw.Connection,
    node_id: str,
    *,
    root_id: int,
    was: Outcome | None,
    now: Outcome | None,
    logs_confidence: bool,
) -> None:
    """Count that a pull which is evidence is worth something else than it was."""
    ok = (now == "success") - (was == "success")
    bad = (now == "failure") - (was == "failure")
    rows: Any = conn.execute(
        "UPDATE td_use SET ok = ok + ?, bad = bad + ? "
        "WHERE node = (SELECT node FROM td_facts WHERE node_id = ?) AND root = ? RETURNING node, ok, bad",
        (ok, bad, node_id, root_id),
    ).fetchall()
    if not rows:  # the pull was never counted: another program recorded it
        ensure_facts(conn, [node_id])
        recount(conn, [node_id], logs_confidence=logs_confidence)
        return
    [(node, ok_after, bad_after)] = rows
    conn.execute(
        "UPDATE td_facts SET ok = ok + ?, bad = bad + ? WHERE node = ?",
        (_began(ok_after - ok, ok_after), _began(bad_after - bad, bad_after), node),
    )


def recount(conn: apsw.Connection, ids: Sequence[str] | None = None, *, logs_confidence: bool) -> None:
    """Make the counts anew from the accesses; of these memories, or of all."""
    if ids is None:
        _recount_all(conn, logs_confidence=logs_confidence)
        return
    names = {"ids": json.dumps(list(ids))}
    conn.execute(f"DELETE FROM td_use WHERE node IN (SELECT node FROM td_facts WHERE node_id IN {_IN_LIST})", names)
    conn.execute(_EVIDENCE_OF_IDS, names)
    conn.execute(
        "UPDATE td_facts AS f SET last_pull_id = coalesce((SELECT max(a.id) FROM td_access a "
        f"WHERE a.node_id = f.node_id AND a.kind = 'pull'), 0) WHERE f.node_id IN {_IN_LIST}",
        names,
    )
    _sum_up(conn, ids, logs_confidence=logs_confidence)


def _recount_all(conn: apsw.Connection, *, logs_confidence: bool) -> None:
    """In one pass over the accesses, and one write of each row: step by step it took twice as long."""
    conn.execute(_MISSING)
    conn.execute(f"CREATE TEMP TABLE td_anew AS {EVIDENCE}")
    try:
        conn.execute("DELETE FROM td_use")
        conn.execute(
            "INSERT INTO td_use (node, root, pulls, first_at, last_at, ok, bad) "
            "SELECT node, root, pulls, first_at, last_at, ok, bad FROM temp.td_anew WHERE pulls > 0"
        )
        conn.execute(_NONE_ANEW)
        conn.execute(_SUMS_ANEW.format(held=held_sql(logs_confidence=logs_confidence)))
    finally:
        conn.execute("DROP TABLE temp.td_anew")


def recount_roots(
    conn: apsw.Connection, ids: Sequence[str], roots: Sequence[int], *, logs_confidence: bool
) -> None:
    """Make anew what these memories count in these root sessions: an outcome or a root changed."""
    names = {"ids": json.dumps(list(ids)), "roots": json.dumps(list(roots))}
    conn.execute(
        f"DELETE FROM td_use WHERE node IN (SELECT node FROM td_facts WHERE node_id IN {_IN_LIST}) "
        "AND root IN (SELECT value FROM json_each(:roots))",
        names,
    )
    conn.execute(_EVIDENCE_OF_ROOTS, names)
    _sum_up(conn, ids, logs_confidence=logs_confidence)


def forget_pulls(conn: apsw.Connection, ids: Sequence[str], *, at_ms: int | None, logs_confidence: bool) -> None:
    """Begin the evidence of memories anew: they were moved by hand."""
    names = json.dumps(list(ids))
    conn.execute(
        f"UPDATE td_facts SET counted_after = {LATEST_ACCESS}, moved_at = ? "
        "WHERE node_id IN (SELECT value FROM json_each(?))",
        (at_ms, names),
    )
    conn.execute(
        "DELETE FROM td_use WHERE node IN "
        "(SELECT node FROM td_facts WHERE node_id IN (SELECT value FROM json_each(?)))",
        (names,),
    )
    _sum_up(conn, ids, logs_confidence=logs_confidence)


def _sum_up(conn: apsw.Connection, ids: Sequence[str], *, logs_confidence: bool) -> None:
    for sql in sum_up_sql(f"f.node_id IN {_IN_LIST}", logs_confidence=logs_confidence):
        conn.execute(sql, {"ids": json.dumps(list(ids))})


@cache
def sum_up_sql(where: str, *, logs_confidence: bool) -> tuple[str, str]:
    """Two statements that bring td_facts `f` in step with td_use, for the rows of a condition."""
    return (
        "UPDATE td_facts AS f SET (roots, max_in_root, ok, bad, first_pull, last_pull) = ("
        "SELECT count(*), coalesce(max(u.pulls), 0), coalesce(sum(u.ok > 0), 0), coalesce(sum(u.bad > 0), 0), "
        f"min(u.first_at), max(u.last_at) FROM td_use u WHERE u.node = f.node) WHERE {where}",
        "UPDATE td_facts AS f SET conf_min = CASE WHEN f.roots > 0 THEN (SELECT "
        f"{held_sql(logs_confidence=logs_confidence)} FROM nodes n WHERE n.id = f.node_id) END WHERE {where}",
    )


@cache
def _add_up(*, logs_confidence: bool) -> str:
    return f"""
UPDATE td_facts AS f SET roots = roots + ?1, max_in_root = max(max_in_root, ?2), ok = ok + ?3, bad = bad + ?4,
    first_pull = min(coalesce(first_pull, ?5), ?5), last_pull = max(coalesce(last_pull, ?5), ?5),
    conf_min = (SELECT {held_sql(logs_confidence=logs_confidence)} FROM nodes n WHERE n.id = f.node_id)
WHERE f.node = ?6"""


def _began(before: int, after: int) -> int:
    """What a root session adds to those with an outcome: 1 when it came, -1 when it went."""
    return int(after > 0) - int(before > 0)
