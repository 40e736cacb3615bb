"""The moves that other programs made since a row of the family's log: what an undo must not run over."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import apsw

from tierdeck.store.rows import as_bytes, text_of

# Ours are told apart by the rows of our own log, from the one on that the caller looks at.
_NEWER = f"""SELECT l.rowid, {as_bytes("j.value")}, {as_bytes("l.from_tier")}, {as_bytes("l.to_tier")}
    FROM evolution_log l, json_each(CASE WHEN json_valid(l.node_ids) THEN l.node_ids ELSE '[]' END) j
    WHERE l.rowid > ? AND l.to_tier IS NOT NULL AND l.from_tier IS NOT l.to_tier
    AND l.rowid NOT IN (SELECT evolution_id FROM td_promotion_log WHERE id > ? AND evolution_id IS NOT NULL)
    ORDER BY l.rowid"""


class ForeignMoves:
    """Other programs' moves of some memories, read once and then only as far as rows were added.

    One pass for a whole run: the family's log has no index on its memories, and a look for each would read all of
    it for each.
    """

    def __init__(self, ids: Collection[str], *, after_evolution: int, after_log: int) -> None:
        self._ids = ids
        self._after_evolution = after_evolution
        self._after_log = after_log
        self._latest: dict[str, tuple[int, str]] = {}

    def read_on(self, conn: apsw.Connection) -> None:
        """Take in what was added since the last time, inside the transaction that is to rely on it."""
        for row_id, node_id, from_tier, to_tier in conn.execute(_NEWER, (self._after_evolution, self._after_log)):
            name = text_of(node_id)
            if name in self._ids:
                # A move logged twice, as some versions of the family do, is one: the latest row is told.
                self._latest[name] = (int(str(row_id)), f"{text_of(from_tier)} → {text_of(to_tier)}")
        self._after_evolution = _last(conn, "SELECT max(rowid) FROM evolution_log")
        self._after_log = _last(conn, "SELECT max(id) FROM td_promotion_log")

    def since(self, node_id: str, evolution_id: int) -> str | None:
        """The latest move of the memory by another program after that row, in words; None when there is none."""
        row_id, move = self._latest.get(node_id, (0, ""))
        return move if row_id > evolution_id else None


def _last(conn: apsw.Connection, sql: str) -> int:
    row: Any = conn.execute(sql).fetchone()
    return row[0] or 0
