"""What promotion counts of memories, made anew after accesses or log rows came in from elsewhere, or went wrong.

td_use and the sums of td_facts come from the accesses. What no access tells, the moves by hand, is read from the
log: each row says from which access on pulls are evidence, and played back the rows tell since when.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from tierdeck.promote.evidence.counts import LATEST_ACCESS, ensure_facts, recount
from tierdeck.promote.log.standing import standing_of

_CHUNK_ROWS = 2_000
_IN_LIST = "IN (SELECT value FROM json_each(:ids))"
_PULLED = "SELECT node_id FROM td_access WHERE kind = 'pull'"
_LOGGED = "SELECT node_id FROM td_promotion_log"
# Revisions that older versions of tierdeck left for a move by hand, which no log row tells of.
_MOVED = "SELECT node_id FROM td_revision WHERE kind IN ('archive', 'restore')"
_OLD_MOVES = f"""
    UPDATE td_facts SET moved_at = m.at, counted_after = coalesce(
        (SELECT max(a.id) FROM td_access a WHERE a.node_id = m.node_id AND a.at <= m.at), 0)
    FROM (SELECT node_id, max(at) AS at FROM td_revision
        WHERE kind IN ('archive', 'restore') AND node_id {_IN_LIST} GROUP BY node_id) m
    WHERE td_facts.node_id = m.node_id"""


def rebuild_facts(conn: apsw.Connection, ids: Sequence[str], *, logs_confidence: bool) -> None:
    """Make the counts of memories anew, inside the caller's transaction; those never pulled or moved have none.

    Args:
        ids: at most some thousands, so that no other writer waits long.
        logs_confidence: whether the store has the family's log of confidences.
    """
    _read_moves(conn, ids)
    recount(conn, ids, logs_confidence=logs_confidence)


def rebuild_all_facts(conn: apsw.Connection, *, logs_confidence: bool) -> None:
    """Make the counts of every memory anew, inside the caller's transaction; rows of memories that are gone go."""
    conn.execute("DELETE FROM td_facts WHERE node_id NOT IN (SELECT id FROM nodes WHERE id IS NOT NULL)")
    conn.execute(
        f"UPDATE td_facts SET tier = n.tier, tier_after = {LATEST_ACCESS} "
        "FROM nodes n WHERE n.id = td_facts.node_id AND n.tier IS NOT td_facts.tier"
    )
    for table in ("td_promotion_log", "td_revision"):
        last = ""
        while ids := _next_ids(conn, table, last):
            _read_moves(conn, ids)
            last = ids[-1]
    recount(conn, logs_confidence=logs_confidence)


def _next_ids(conn: apsw.Connection, table: str, last: str) -> list[str]:
    sql = f"SELECT DISTINCT node_id FROM {table} WHERE node_id > ? ORDER BY node_id LIMIT {_CHUNK_ROWS}"
    rows: Any = conn.execute(sql, (last,))
    return [row[0] for row in rows]


def _read_moves(conn: apsw.Connection, ids: Sequence[str]) -> None:
    """A row for each memory that was pulled or moved, and in it what the moves by hand left."""
    names = {"ids": json.dumps(list(ids))}
    known = " UNION ".join(f"{part} AND node_id {_IN_LIST}" for part in (_PULLED, f"{_LOGGED} WHERE 1", _MOVED))
    rows: Any = conn.execute(f"SELECT node_id FROM td_facts WHERE node_id {_IN_LIST} UNION {known}", names)
    ensure_facts(conn, [row[0] for row in rows.fetchall()])
    conn.execute(_OLD_MOVES, names)
    logged: Any = conn.execute(
        f"SELECT node_id, max(id), counted_after FROM td_promotion_log WHERE node_id {_IN_LIST} GROUP BY node_id",
        names,
    )
    for node_id, _, counted_after in logged.fetchall():
        stands = standing_of(conn, node_id)
        conn.execute(
            "UPDATE td_facts SET counted_after = ?2, moved_at = coalesce(?3, moved_at) WHERE node_id = ?1",
            (node_id, counted_after, stands.now.moved_at_ms),
        )
        # Where the latest move led is where the memory still is, unless another program moved it since.
        moves = (step for step in (*stands.done, *stands.undone) if step.is_move)
        latest = max(moves, key=lambda step: step.id, default=None)
        if latest is not None and stands.now.tier_after is not None:
            conn.execute(
                "UPDATE td_facts SET tier_after = ?2 WHERE node_id = ?1 AND tier IS ?3",
                (node_id, stands.now.tier_after, latest.to_tier),
            )
