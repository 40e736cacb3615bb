"""Which rows of the log were taken back, so that every list says the same of them.

A row is when a later one undoes it that was not taken back itself: an undo and its undo leave it standing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import apsw


def undone_ids(rows: Iterable[tuple[int, int | None]]) -> frozenset[int]:
    """The ids of those taken back, among rows given as (id, what it undoes), in any order. Pure."""
    undone: set[int] = set()
    for row_id, undoes in sorted(rows, key=lambda row: row[0], reverse=True):
        if undoes is not None and row_id not in undone:
            undone.add(undoes)
    return frozenset(undone)


def undone_of_runs(conn: apsw.Connection, first_id: int, last_id: int) -> dict[int, int]:
    """How many rows of each run from the first to the last were taken back; runs without one are left out."""
    # Every undo of them is younger than the first of their rows: the latest runs cost the latest rows only.
    rows: Any = conn.execute(
        "SELECT u.id, u.undoes, l.run_id FROM td_promotion_log u JOIN td_promotion_log l ON l.id = u.undoes "
        "WHERE u.undoes IS NOT NULL AND u.id > "
        "(SELECT min(id) FROM td_promotion_log WHERE run_id BETWEEN ?1 AND ?2)",
        (first_id, last_id),
    ).fetchall()
    undone = undone_ids((row_id, undoes) for row_id, undoes, _ in rows)
    run_of = {undoes: run_id for _, undoes, run_id in rows if run_id is not None and first_id <= run_id <= last_id}
    return dict(Counter(run_of[row_id] for row_id in undone & run_of.keys()))


def undone_in(conn: apsw.Connection, node_ids: Sequence[str]) -> frozenset[int]:
    """The rows of these memories that were taken back, as the connection sees them now; of none there are none."""
    if not node_ids:  # as in a store that has no log
        return frozenset()
    sql = (
        "SELECT id, undoes FROM td_promotion_log "
        "WHERE node_id IN (SELECT value FROM json_each(?)) AND undoes IS NOT NULL"
    )
    rows: Any = conn.execute(sql, (json.dumps(list(node_ids)),)).fetchall()
    return undone_ids((int(row_id), int(undoes)) for row_id, undoes in rows)
