"""The order of a list, newest first, and the rows at its places.

Two ways with the same answers. A store of ours has an index in that order: of a million rows a page is found in
1 ms, the first count takes 50 ms and a jump to the middle 26. In another program's store nothing may be added, and
a filter that looks inside the metadata has to read every row: those places are sorted once for each state of the
file and kept (0.6 s for a million, then 1 ms a page).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import apsw

from tierdeck.model import NodeFilter
from tierdeck.store.filters import filter_sql, time_ms_sql
from tierdeck.store.rows import SQLValue
from tierdeck.store.store import Store

# A memory's time as the order has it, then its row number in the table; a greater place is a newer one.
Place = tuple[int, int]

_KEY = time_ms_sql("n.created_at")
# Without it the planner takes a tier's or the confidence's index where there is one, and sorts (20 times slower).
_NODES = "nodes n INDEXED BY td_nodes_by_time"


class Listing(Protocol):
    """The memories that one filter lets through, numbered from 0, the newest. Good for one state of the store."""

    def count(self, conn: apsw.Connection) -> int:
        """How many there are."""

    def around(
        self, conn: apsw.Connection, place: Place | None, before_rows: int, after_rows: int
    ) -> tuple[int, list[int]]:
        """The number of the first row, and the row numbers of newer ones, the place's own, and older ones."""

    def at(self, conn: apsw.Connection, first_row: int, limit_rows: int) -> list[int]:
        """The row numbers from a number on, at most `limit_rows`."""


def listing_of(store: Store, node_filter: NodeFilter) -> Listing:
    """The list of a filter in a store."""
    sql, values = filter_sql(node_filter, has_sessions=store.has_table("td_access"))
    named = (node_filter.session, node_filter.project, node_filter.tag)
    looks_inside = bool(node_filter.metadata) or any(name is not None for name in named)
    if store.has_index("td_nodes_by_time") and not looks_inside:
        return IndexedListing(sql, tuple(values))
    return SortedListing(f"typeof(n.id) = 'text' AND {sql}", tuple(values))


def place_of(conn: apsw.Connection, node_id: str, created_at_ms: int) -> Place:
    """A memory's place; that of its time when it is gone."""
    found: Any = conn.execute(f"SELECT {_KEY}, n.rowid FROM nodes n WHERE n.id = ?", (node_id,)).fetchone()
    return (created_at_ms, 0) if found is None else (found[0], found[1])


@dataclass(slots=True)
class IndexedListing:
    """Places found in the index of a store of ours."""

    sql: str
    values: tuple[SQLValue, ...]
    _total: int | None = None
    _known: tuple[Place, int] | None = None

    def count(self, conn: apsw.Connection) -> int:
        """How many there are; counted once."""
        if self._total is None:
            self._total = self._count(conn, "1", ())
        return self._total

    def around(
        self, conn: apsw.Connection, place: Place | None, before_rows: int, after_rows: int
    ) -> tuple[int, list[int]]:
        """The number of the first row, and the row numbers around a place."""
        if place is None:
            return 0, self.at(conn, 0, after_rows + 1)
        newer = self._beside(conn, place, ">", "ASC", before_rows)
        older = self._beside(conn, place, "<", "DESC", after_rows + 1)
        places = [*reversed(newer), *older]
        first = self._number(conn, places[0]) if places else 0
        return first, [row for _, row in places]

    def at(self, conn: apsw.Connection, first_row: int, limit_rows: int) -> list[int]:
        """The row numbers from a number on; a far one is counted off from the nearer end."""
        if first_row == 0:
            return [row for _, row in self._places(conn, "1", (), "DESC", limit_rows)]
        total = self.count(conn)
        wanted = max(0, min(limit_rows, total - first_row))
        if first_row <= total // 2:
            places = self._places(conn, "1", (), "DESC", wanted, first_row)
        else:
            places = self._places(conn, "1", (), "ASC", wanted, total - first_row - wanted)[::-1]
        if places:
            self._known = (places[0], first_row)
        return [row for _, row in places]

    def _number(self, conn: apsw.Connection, place: Place) -> int:
        """How many are newer than a place: counted from the last place whose number is known, else from the top."""
        if self._known is None:
            newest = (2**63 - 1, 2**63 - 1)
            number = self._count_between(conn, place, newest)
        elif place < self._known[0]:
            number = self._known[1] + self._count_between(conn, place, self._known[0])
        else:
            number = self._known[1] - self._count_between(conn, self._known[0], place)
        self._known = (place, number)
        return number

    def _count_between(self, conn: apsw.Connection, low: Place, high: Place) -> int:
        """How many are newer than `low` and not newer than `high`. Each part is one range of the index."""
        if low[0] == high[0]:
            return self._count(conn, f"{_KEY} = ? AND n.pk > ? AND n.pk <= ?", (*low, high[1]))
        return (
            self._count(conn, f"{_KEY} = ? AND n.pk > ?", low)
            + self._count(conn, f"{_KEY} > ? AND {_KEY} < ?", (low[0], high[0]))
            + self._count(conn, f"{_KEY} = ? AND n.pk <= ?", high)
        )

    def _count(self, conn: apsw.Connection, range_sql: str, range_values: Sequence[int]) -> int:
        sql = f"SELECT count(*) FROM {_NODES} WHERE {range_sql} AND {self.sql}"
        [(count,)] = conn.execute(sql, (*range_values, *self.values)).fetchall()
        return int(str(count))

    def _beside(
        self, conn: apsw.Connection, place: Place, side: str, direction: str, limit_rows: int
    ) -> list[Place]:
        """The nearest places on one side, those of the same time first; the older side begins with the place's own.

        Two ranges: as one (`key < ? OR key = ? AND pk < ?`) the planner would walk the whole index.
        """
        same = f"{_KEY} = ? AND n.pk {side}{'=' if side == '<' else ''} ?"
        found = self._places(conn, same, place, direction, limit_rows, order="n.pk")
        return found + self._places(conn, f"{_KEY} {side} ?", place[:1], direction, limit_rows - len(found))

    def _places(
        self,
        conn: apsw.Connection,
        range_sql: str,
        range_values: Sequence[int],
        direction: str,
        limit_rows: int,
        skip_rows: int = 0,
        *,
        order: str = _KEY,
    ) -> list[Place]:
        by = f"n.pk {direction}" if order == "n.pk" else f"{order} {direction}, n.pk {direction}"
        found: Any = conn.execute(
            f"SELECT {_KEY}, n.pk FROM {_NODES} WHERE {range_sql} AND {self.sql} ORDER BY {by} LIMIT ? OFFSET ?",
            (*range_values, *self.values, max(0, limit_rows), skip_rows),
        ).fetchall()
        return [(key, row) for key, row in found]


@dataclass(slots=True)
class SortedListing:
    """Places read from the whole table and sorted, oldest first; 16 bytes each."""

    sql: str
    values: tuple[SQLValue, ...]
    _is_read: bool = False
    _times: array[int] = field(default_factory=lambda: array("q"))
    _rows: array[int] = field(default_factory=lambda: array("q"))

    def count(self, conn: apsw.Connection) -> int:
        """How many there are."""
        self._read(conn)
        return len(self._rows)

    def around(
        self, conn: apsw.Connection, place: Place | None, before_rows: int, after_rows: int
    ) -> tuple[int, list[int]]:
        """The number of the first row, and the row numbers around a place."""
        total = self.count(conn)
        if place is None:
            return 0, self.at(conn, 0, after_rows + 1)
        newer = total - bisect_right(range(total), place, key=lambda i: (self._times[i], self._rows[i]))
        first = max(0, newer - before_rows)
        return first, self.at(conn, first, newer - first + after_rows + 1)

    def at(self, conn: apsw.Connection, first_row: int, limit_rows: int) -> list[int]:
        """The row numbers from a number on."""
        end = self.count(conn) - first_row
        return list(reversed(self._rows[max(0, end - limit_rows) : max(0, end)]))

    def _read(self, conn: apsw.Connection) -> None:
        if self._is_read:
            return
        times, rows = array("q"), array("q")
        sql = f"SELECT {_KEY} AS time_ms, n.rowid FROM nodes n WHERE {self.sql} ORDER BY time_ms, n.rowid"
        found: Any = conn.execute(sql, self.values)
        for time_ms, row in found:
            times.append(time_ms)
            rows.append(row)
        self._times, self._rows, self._is_read = times, rows, True
