"""What promotion counts of memories, made anew after accesses or log rows came in from elsewhere.

td_use and the sums of td_facts come from the accesses. What no access tells, the moves by hand, is read from the
log: each row says from which access on pulls are evidence, and replaying the rows tells since when.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import apsw

from tierdeck.promote.counts import recount

# Revisions that older versions of tierdeck left for a move by hand, which no log row tells of.
_OLD_MOVES = """
    SELECT r.node_id, max(r.at), (SELECT coalesce(max(a.id), 0) FROM td_access a
        WHERE a.node_id = r.node_id AND a.at <= max(r.at))
    FROM td_revision r
    WHERE r.kind IN ('archive', 'restore') AND r.node_id IN (SELECT value FROM json_each(:ids))
    GROUP BY r.node_id"""
_LOG = """
    SELECT id, at, node_id, kind, from_tier IS NOT to_tier, undoes, access_id, counted_after, to_tier
    FROM td_promotion_log WHERE node_id IN (SELECT value FROM json_each(:ids)) ORDER BY node_id, id"""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """From which access on pulls count, and the latest move by hand."""

    counted_after: int = 0
    moved_at: int | None = None


def rebuild_facts(conn: apsw.Connection, ids: Sequence[str], *, has_log: bool) -> None:
    """Make the counts of memories anew, inside the caller's transaction; those never pulled or moved have none.

    Args:
        ids: at most some thousands, so that no other writer waits long.
        has_log: whether the store has the family's log of confidences.
    """
    names = {"ids": json.dumps(list(ids))}
    # A memory that is in the archive came there at some time before now: what was pulled so far calls none back.
    conn.execute(
        "INSERT INTO td_facts (node_id, tier, tier_after) "
        "SELECT n.id, n.tier, (SELECT coalesce(max(id), 0) FROM td_access) FROM nodes n "
        "WHERE n.id IN (SELECT value FROM json_each(:ids)) "
        "AND (EXISTS (SELECT 1 FROM td_access a WHERE a.node_id = n.id AND a.kind = 'pull') "
        "OR EXISTS (SELECT 1 FROM td_promotion_log l WHERE l.node_id = n.id) "
        "OR EXISTS (SELECT 1 FROM td_revision r WHERE r.node_id = n.id AND r.kind IN ('archive', 'restore'))) "
        "ON CONFLICT (node_id) DO NOTHING",
        names,
    )
    old: Any = conn.execute(_OLD_MOVES, names).fetchall()
    began = {node_id: _Evidence(counted_after, at) for node_id, at, counted_after in old}
    _set_evidence(conn, began.items())
    rows: Any = conn.execute(_LOG, names).fetchall()
    _set_evidence(conn, _replayed(rows, began))
    # Where the log's last move led is where the memory still is, unless another program moved it.
    conn.executemany(
        "UPDATE td_facts SET tier_after = ?2 WHERE node_id = ?1 AND tier IS ?3",
        [(row[2], row[6], row[8]) for row in rows if row[4]],
    )
    recount(conn, ids, has_log=has_log)


def _set_evidence(conn: apsw.Connection, evidence: Iterable[tuple[str, _Evidence]]) -> None:
    conn.executemany(
        "UPDATE td_facts SET counted_after = ?2, moved_at = ?3 WHERE node_id = ?1",
        [(node_id, found.counted_after, found.moved_at) for node_id, found in evidence],
    )


def _replayed(rows: Sequence[Any], began: dict[str, _Evidence]) -> Iterator[tuple[str, _Evidence]]:
    """Each memory with the evidence that its log rows leave.

    A move by hand begins it anew; so does the undo of a rule's move. The undo of any other row gives back what
    was before that row.
    """
    for node_id, group in groupby(rows, key=lambda row: row[2]):
        stands = began.get(node_id, _Evidence())
        before: dict[int, _Evidence] = {}
        rules_moves: set[int] = set()
        for log_id, at, _, kind, is_move, undoes, access_id, counted_after, _ in group:
            before[log_id] = stands
            if kind in ("auto", "approve"):
                rules_moves.add(log_id)
            is_by_hand = kind == "override" or (kind == "undo" and undoes in rules_moves)
            if is_move and is_by_hand:
                stands = _Evidence(access_id, at)
            elif kind == "undo":
                stands = before.get(undoes, stands)
            stands = _Evidence(counted_after, stands.moved_at)  # the row itself says it, whatever it follows from
        yield node_id, stands
