"""Pages of a list that may hold a million memories, newest first; and how many there are.

The order is that of the creation time, then of the row in the table, both falling; a memory whose time can't be
read stands at the end.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import apsw

from tierdeck.errors import DamagedStoreError
from tierdeck.model import NodeFilter, NodeRow, NodeType, Tier
from tierdeck.store.filters import filter_sql
from tierdeck.store.listing import Listing, listing_of, place_of
from tierdeck.store.rows import ROW_COLUMNS, as_bytes, node_row_of, text_of
from tierdeck.store.store import Store

T = TypeVar("T")
# A list of another program's store keeps 16 bytes for each of its rows.
_KEPT_LISTINGS = 4


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the list: that of a memory, kept by its time should it leave the list."""

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
    """How many memories a store holds, by tier and by type, and how many relations; archived ones are counted too.

    `unreadable` counts memories whose tier is none of the four; they show as task.
    """

    total: int
    edges: int
    by_tier: Mapping[Tier, int] = field(default_factory=dict)
    by_type: Mapping[NodeType, int] = field(default_factory=dict)
    unreadable: int = 0


def page_around(
    store: Store, node_filter: NodeFilter, cursor: Cursor | None, *, before_rows: int, after_rows: int
) -> Page:
    """The rows around a cursor: up to `before_rows` newer ones, its own, up to `after_rows` older ones.

    Without a cursor the list begins at the newest. All of it is one snapshot of the store; where the cursor's
    memory has left the list, the page is that around its place.
    """

    def look(conn: apsw.Connection, listing: Listing) -> Page:
        place = None if cursor is None else place_of(conn, cursor.node_id, cursor.created_at_ms)
        first, row_numbers = listing.around(conn, place, before_rows, after_rows)
        return Page(_rows(conn, row_numbers), first, listing.count(conn))

    return _look_through(store, node_filter, look)


def page_at_offset(store: Store, node_filter: NodeFilter, first_row: int, limit_rows: int) -> Page:
    """The rows from number `first_row` on, at most `limit_rows`; beyond the end, the last page."""

    def look(conn: apsw.Connection, listing: Listing) -> Page:
        total = listing.count(conn)
        first = max(0, min(first_row, total - limit_rows))
        return Page(_rows(conn, listing.at(conn, first, limit_rows)), first, total)

    return _look_through(store, node_filter, look)


def count_nodes(store: Store, node_filter: NodeFilter) -> int:
    """How many memories the filter lets through."""
    return _look_through(store, node_filter, lambda conn, listing: listing.count(conn))


def count_left_in_archive(store: Store, node_filter: NodeFilter) -> int:
    """How many archived memories are hidden by the rule that keeps the archive out, and by nothing else."""
    if node_filter.tiers or node_filter.include_archived:
        return 0
    archived = replace(node_filter, tiers=frozenset({Tier.ARCHIVE}))
    sql, values = filter_sql(archived, has_sessions=store.has_table("td_access"))
    # Not through a listing: that one goes through all memories, the tier's index to the archived ones only.
    return int(store.read(lambda conn: conn.execute(f"SELECT count(*) FROM nodes n WHERE {sql}", values).get))


def counts(store: Store) -> StoreCounts:
    """How many memories and relations the store holds, in one snapshot."""

    def look(conn: apsw.Connection) -> StoreCounts:
        tiers, types = (_grouped(conn, column) for column in ("tier", "type"))
        [(edges,)] = conn.execute("SELECT count(*) FROM hyperedges").fetchall()
        by_tier = {tier: tiers.get(tier.value, 0) for tier in Tier}
        total = sum(tiers.values())
        return StoreCounts(
            total=total,
            edges=int(str(edges)),
            by_tier=by_tier,
            by_type={kind: types.get(kind.value, 0) for kind in NodeType},
            unreadable=total - sum(by_tier.values()),
        )

    return store.read(look)


class _KnownListings:
    """The lists looked at last in one store, while nobody writes to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version: int | None = None
        self._listings: OrderedDict[NodeFilter, Listing] = OrderedDict()

    def of(self, store: Store, node_filter: NodeFilter, version: int) -> Listing:
        with self._lock:
            if version != self._version:
                self._version = version
                self._listings.clear()
            listing = self._listings.pop(node_filter, None) or listing_of(store, node_filter)
            self._listings[node_filter] = listing
            if len(self._listings) > _KEPT_LISTINGS:
                self._listings.popitem(last=False)
            return listing


_known: WeakKeyDictionary[Store, _KnownListings] = WeakKeyDictionary()


def _look_through(store: Store, node_filter: NodeFilter, look: Callable[[apsw.Connection, Listing], T]) -> T:
    """Look with what is known of the list; anew and without it when somebody wrote meanwhile."""
    version = store.data_version()
    listing = _known.setdefault(store, _KnownListings()).of(store, node_filter, version)
    try:
        found = store.read(lambda conn: look(conn, listing))
    except DamagedStoreError:  # a memory that was listed is not there: deleted meanwhile, or really lost
        if store.data_version() == version:
            raise
    else:
        if store.data_version() == version:
            return found
    return store.read(lambda conn: look(conn, listing_of(store, node_filter)))


def _grouped(conn: apsw.Connection, column: str) -> dict[str, int]:
    found: Any = conn.execute(f"SELECT {as_bytes(column)}, count(*) FROM nodes GROUP BY {column}").fetchall()
    return {text_of(value): count for value, count in found}


def _rows(conn: apsw.Connection, row_numbers: list[int]) -> tuple[NodeRow, ...]:
    found: Any = conn.execute(
        f"SELECT n.rowid, {ROW_COLUMNS} FROM nodes n WHERE n.rowid IN (SELECT value FROM json_each(?))",
        (json.dumps(row_numbers),),
    ).fetchall()
    rows = {values[0]: node_row_of(values[1:]) for values in found}
    lost = next((number for number in row_numbers if number not in rows), None)
    if lost is not None:
        raise apsw.CorruptError(f"row {lost} of nodes is listed and is not there")
    return tuple(rows[number] for number in row_numbers)
