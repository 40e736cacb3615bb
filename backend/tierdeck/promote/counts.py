"""The counts that the rules read, kept in the transaction of what they count: td_use and td_facts.

Both can be made anew from the accesses and the log (`recount`); what is kept and what is made anew must agree.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from tierdeck.model import Outcome
from tierdeck.promote.facts_sql import held_sql

# What an access is worth: its own outcome, else its session's, else that of the session it all began with.
_OUTCOME = "coalesce(a.outcome, s.outcome, r.outcome)"
_FROM_ACCESSES = (
    "td_access a JOIN td_session s ON s.id = a.session_id JOIN td_session r ON r.id = s.root_id "
    "JOIN td_facts f ON f.node_id = a.node_id"
)


def ensure_facts(conn: apsw.Connection, ids: Sequence[str]) -> None:
    """A row of facts for each of these memories; in an adopted store also the tier that another program gave it."""
    names = json.dumps(list(ids))
    conn.execute(
        "INSERT INTO td_facts (node_id, tier, tier_after) "
        "SELECT id, tier, 0 FROM nodes WHERE id IN (SELECT value FROM json_each(?)) "
        "ON CONFLICT (node_id) DO NOTHING",
        (names,),
    )
    # Moved by another program at some time before now: only what is pulled from now on was pulled since.
    conn.execute(
        "UPDATE td_facts SET tier = n.tier, tier_after = (SELECT coalesce(max(id), 0) FROM td_access) "
        "FROM nodes n WHERE n.id = td_facts.node_id AND n.tier IS NOT td_facts.tier "
        "AND td_facts.node_id IN (SELECT value FROM json_each(?))",
        (names,),
    )


def count_pull(
    conn: apsw.Connection, node_id: str, *, root_id: int, access_id: int, at_ms: int, outcome: Outcome | None,
    has_log: bool,
) -> None:  # fmt: skip
    """Count a pull that was just recorded.

    Args:
        outcome: what the access is worth now: its own, its session's or its root's.
        has_log: whether the store has the family's log of confidences.
    """
    conn.execute(
        "INSERT INTO td_use (node, root, pulls, first_at, last_at, ok, bad) "
        "SELECT node, ?2, 1, ?3, ?3, ?4 IS 'success', ?4 IS 'failure' FROM td_facts WHERE node_id = ?1 "
        "ON CONFLICT (node, root) DO UPDATE SET pulls = pulls + 1, first_at = min(first_at, excluded.first_at), "
        "last_at = max(last_at, excluded.last_at), ok = ok + excluded.ok, bad = bad + excluded.bad",
        (node_id, root_id, at_ms, outcome),
    )
    conn.execute("UPDATE td_facts SET last_pull_id = ? WHERE node_id = ?", (access_id, node_id))
    _sum_up(conn, [node_id], has_log=has_log)


def recount(conn: apsw.Connection, ids: Sequence[str] | None = None, *, has_log: bool) -> None:
    """Make the counts anew from the accesses; of these memories, or of all."""
    where = "1" if ids is None else "f.node_id IN (SELECT value FROM json_each(:ids))"
    names = {"ids": json.dumps(list(ids or ()))}
    if ids is None:
        conn.execute("DELETE FROM td_use")
        conn.execute(
            "INSERT INTO td_facts (node_id, tier) SELECT id, tier FROM nodes "
            "WHERE id IN (SELECT node_id FROM td_access WHERE kind = 'pull') ON CONFLICT (node_id) DO NOTHING"
        )
    else:
        conn.execute(f"DELETE FROM td_use WHERE node IN (SELECT f.node FROM td_facts f WHERE {where})", names)
    conn.execute(
        f"INSERT INTO td_use (node, root, pulls, first_at, last_at, ok, bad) "
        f"SELECT f.node, s.root_id, count(*), min(a.at), max(a.at), sum({_OUTCOME} IS 'success'), "
        f"sum({_OUTCOME} IS 'failure') FROM {_FROM_ACCESSES} "
        f"WHERE a.kind = 'pull' AND a.id > f.counted_after AND {where} GROUP BY f.node, s.root_id",
        names,
    )
    conn.execute(
        "UPDATE td_facts AS f SET last_pull_id = coalesce((SELECT max(a.id) FROM td_access a "
        f"WHERE a.node_id = f.node_id AND a.kind = 'pull'), 0) WHERE {where}",
        names,
    )
    _sum_up(conn, ids, has_log=has_log)


def forget_pulls(conn: apsw.Connection, ids: Sequence[str], *, at_ms: int | None, has_log: bool) -> None:
    """Begin the evidence of memories anew: they were moved by hand."""
    names = json.dumps(list(ids))
    conn.execute(
        "UPDATE td_facts SET counted_after = (SELECT coalesce(max(id), 0) FROM td_access), moved_at = ? "
        "WHERE node_id IN (SELECT value FROM json_each(?))",
        (at_ms, names),
    )
    conn.execute(
        "DELETE FROM td_use WHERE node IN "
        "(SELECT node FROM td_facts WHERE node_id IN (SELECT value FROM json_each(?)))",
        (names,),
    )
    _sum_up(conn, ids, has_log=has_log)


def _sum_up(conn: apsw.Connection, ids: Sequence[str] | None, *, has_log: bool) -> None:
    where = "1" if ids is None else "f.node_id IN (SELECT value FROM json_each(:ids))"
    names = {"ids": json.dumps(list(ids or ()))}
    conn.execute(
        "UPDATE td_facts AS f SET (roots, max_in_root, ok, bad, first_pull, last_pull) = ("
        "SELECT count(*), coalesce(max(u.pulls), 0), coalesce(sum(u.ok > 0), 0), coalesce(sum(u.bad > 0), 0), "
        f"min(u.first_at), max(u.last_at) FROM td_use u WHERE u.node = f.node) WHERE {where}",
        names,
    )
    conn.execute(
        f"UPDATE td_facts AS f SET conf_min = CASE WHEN f.roots > 0 THEN "
        f"(SELECT {held_sql(has_log=has_log)} FROM nodes n WHERE n.id = f.node_id) END WHERE {where}",
        names,
    )
