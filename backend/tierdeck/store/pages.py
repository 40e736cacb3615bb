"""Pages of a list that may hold a million memories, newest first.

The order is that of the creation time in milliseconds, then of the row number, both falling. A page is found around
a cursor by looking up its place in the order, never by counting from the top.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import apsw

from tierdeck.model import NodeFilter, NodeRow, NodeType, Tier
from tierdeck.store.filters import filter_sql, time_ms_sql
from tierdeck.store.rows import ROW_COLUMNS, SQLValue, node_row_of, text_of
from tierdeck.store.store import Store

_KEY = time_ms_sql("n.created_at")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the list: that of a memory, kept by time should the memory leave the list."""

    created_at_ms: int
    node_id: str

    @classmethod
    def of(cls, row: NodeRow) -> Cursor:
        """The place of a row."""
        return cls(row.created_at_ms or 0, row.id)


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of the list. `first_row` is the number of the first of them, 0 being the newest memory."""

    rows: tuple[NodeRow, ...]
    first_row: int
    total_rows: int


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """How many memories a store holds, by tier and by type, and how many relations."""

    total: int
    edges: int
    by_tier: Mapping[Tier, int] = field(default_factory=dict)
    by_type: Mapping[NodeType, int] = field(default_factory=dict)
    other: int = 0


_Place = tuple[int, int]


def page_around(
    store: Store,
    filter: NodeFilter,
    cursor: Cursor | None,
    *,
    before_rows: int,
    after_rows: int,
) -> Page:
    """The rows around a cursor: up to `before_rows` newer ones, the cursor's own, up to `after_rows` older ones.

    Without a cursor the list begins at the newest. All of it is one snapshot of the store.
    """

    def look(conn: apsw.Connection) -> Page:
        where = _Where.of(store, filter)
        if cursor is None:
            return _page(conn, where, where.below(conn, None, 1 + after_rows), 0)
        place = where.place_of(conn, cursor)
        newer = where.above(conn, place, before_rows)
        older = where.below(conn, place, after_rows + 1)
        places = [*reversed(newer), *older]
        first = where.count_above(conn, places[0]) if places else 0
        return _page(conn, where, places, first)

    return store.read(look)


def page_at_offset(store: Store, filter: NodeFilter, first_row: int, limit_rows: int) -> Page:
    """The rows from number `first_row` on, at most `limit_rows`; beyond the end, the last page."""

    def look(conn: apsw.Connection) -> Page:
        where = _Where.of(store, filter)
        total = where.count(conn)
        first = max(0, min(first_row, total - limit_rows))
        return _page(conn, where, where.from_offset(conn, first, limit_rows, total), first, total)

    return store.read(look)


def count_nodes(store: Store, filter: NodeFilter) -> int:
    """How many memories the filter lets through."""
    return store.read(lambda conn: _Where.of(store, filter).count(conn))


def counts(store: Store) -> StoreCounts:
    """How many memories and relations the store holds, archived ones too."""

    def look(conn: apsw.Connection) -> StoreCounts:
        tiers = {text_of(k): n for k, n in conn.execute("SELECT tier, count(*) FROM nodes GROUP BY tier")}
        types = {text_of(k): n for k, n in conn.execute("SELECT type, count(*) FROM nodes GROUP BY type")}
        [(edges,)] = conn.execute("SELECT count(*) FROM hyperedges").fetchall()
        by_tier = {tier: tiers.get(tier.value, 0) for tier in Tier}
        total = sum(tiers.values())
        return StoreCounts(
            total=total,
            edges=edges,
            by_tier=by_tier,
            by_type={kind: types.get(kind.value, 0) for kind in NodeType},
            other=total - sum(by_tier.values()),
        )

    return store.read(look)


@dataclass(frozen=True, slots=True)
class _Where:
    """The list of one filter in one store: its places, as (time key, row number), and how many there are."""

    sql: str
    values: tuple[SQLValue, ...]
    row_id: str

    @classmethod
    def of(cls, store: Store, filter: NodeFilter) -> _Where:
        sql, values = filter_sql(filter, has_sessions=store.has_table("td_access"))
        is_own = "pk" in store.columns("nodes")
        return cls(
            sql if is_own else f"typeof(n.id) = 'text' AND {sql}", tuple(values), "n.pk" if is_own else "n.rowid"
        )

    def place_of(self, conn: apsw.Connection, cursor: Cursor) -> _Place:
        found = conn.execute(
            f"SELECT {_KEY}, {self.row_id} FROM nodes n WHERE n.id = ?", (cursor.node_id,)
        ).fetchone()
        return (int(found[0]), int(found[1])) if found else (cursor.created_at_ms, 0)

    def below(self, conn: apsw.Connection, place: _Place | None, limit_rows: int) -> list[_Place]:
        """The place itself and older ones, newest first."""
        order = f"ORDER BY {_KEY} DESC, {self.row_id} DESC"
        if place is None:
            return self._places(conn, "1", (), order, limit_rows)
        same = self._places(conn, f"{_KEY} = ? AND {self.row_id} <= ?", place, order, limit_rows)
        return same + self._places(conn, f"{_KEY} < ?", place[:1], order, limit_rows - len(same))

    def above(self, conn: apsw.Connection, place: _Place, limit_rows: int) -> list[_Place]:
        """Newer places, nearest first."""
        order = f"ORDER BY {_KEY}, {self.row_id}"
        same = self._places(conn, f"{_KEY} = ? AND {self.row_id} > ?", place, order, limit_rows)
        return same + self._places(conn, f"{_KEY} > ?", place[:1], order, limit_rows - len(same))

    def count(self, conn: apsw.Connection) -> int:
        [(count,)] = conn.execute(f"SELECT count(*) FROM nodes n WHERE {self.sql}", self.values).fetchall()
        return int(count)

    def count_above(self, conn: apsw.Connection, place: _Place) -> int:
        [(count,)] = conn.execute(
            f"SELECT (SELECT count(*) FROM nodes n WHERE {_KEY} = ? AND {self.row_id} > ? AND {self.sql}) + "
            f"(SELECT count(*) FROM nodes n WHERE {_KEY} > ? AND {self.sql})",
            (*place, *self.values, place[0], *self.values),
        ).fetchall()
        return int(count)

    def from_offset(self, conn: apsw.Connection, first: int, limit_rows: int, total: int) -> list[_Place]:
        """Places by number, counted off from the nearer end."""
        if first <= total // 2:
            order = f"ORDER BY {_KEY} DESC, {self.row_id} DESC"
            return self._places(conn, "1", (), order, limit_rows, first)
        wanted = min(limit_rows, total - first)
        order = f"ORDER BY {_KEY}, {self.row_id}"
        return self._places(conn, "1", (), order, wanted, total - first - wanted)[::-1]

    def _places(
        self,
        conn: apsw.Connection,
        range_sql: str,
        range_values: tuple[SQLValue, ...],
        order: str,
        limit_rows: int,
        skip_rows: int = 0,
    ) -> list[_Place]:
        if limit_rows <= 0:
            return []
        return conn.execute(
            f"SELECT {_KEY}, {self.row_id} FROM nodes n WHERE {range_sql} AND {self.sql} {order} LIMIT ? OFFSET ?",
            (*range_values, *self.values, limit_rows, skip_rows),
        ).fetchall()


def _page(conn: apsw.Connection, where: _Where, places: list[_Place], first: int, total: int | None = None) -> Page:
    found = {}
    for _, row_number in places:
        row = conn.execute(f"SELECT {ROW_COLUMNS} FROM nodes n WHERE {where.row_id} = ?", (row_number,)).fetchone()
        found[row_number] = node_row_of(row)
    rows = tuple(found[row_number] for _, row_number in places)
    return Page(rows, first, where.count(conn) if total is None else total)
