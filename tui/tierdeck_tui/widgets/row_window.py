"""Which rows of a long list are in memory, and on which memory its cursor stands. No widget, no clock, no disk."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.model import NodeRow
from tierdeck.store import Cursor
from tierdeck_tui.view.memory_row import Row, memory_of


class RowWindow:
    """A stretch of a list of `total` rows, beginning at row `first`.

    The cursor is an id. Its number changes when rows come or go above it; only when its memory left the list does
    the cursor stand on another, the next one in the list's order.
    """

    def __init__(self) -> None:
        self.rows: Sequence[Row] = ()
        self.first = 0
        self.total = 0
        self.cursor = 0
        self._id: str | None = None
        self._place: Cursor | None = None

    @property
    def cursor_row(self) -> Row | None:
        """The row under the cursor; None while it is not in memory, and in an empty list."""
        return self.row(self.cursor)

    @property
    def place(self) -> Cursor | None:
        """Where the cursor's memory stands in the store's order; None while that is not known."""
        return self._place

    def row(self, number: int) -> Row | None:
        """The row of that number, if it is in memory."""
        at = number - self.first
        return self.rows[at] if 0 <= at < len(self.rows) else None

    def missing(self, needed: range) -> range:
        """The smallest stretch that holds all rows of `needed` that exist and are not in memory."""
        start, stop = max(0, needed.start), min(self.total, needed.stop)
        while start < stop and self.row(start) is not None:
            start += 1
        while stop > start and self.row(stop - 1) is not None:
            stop -= 1
        return range(start, stop)

    def move(self, number: int) -> None:
        """Put the cursor on a row by its number."""
        self.cursor = number
        self._hold()

    def forget_cursor(self) -> None:
        """Let the next rows put the cursor on the first row."""
        self.cursor, self._id, self._place = 0, None, None

    def take(self, rows: Sequence[Row], first: int, total: int) -> int:
        """Hold these rows instead, the cursor on the memory where it was; gives by how many rows it moved."""
        before = self.cursor
        self.rows, self.first, self.total = rows, first, total
        found = next((at for at, row in enumerate(rows) if memory_of(row).id == self._id), None)
        if found is not None:
            self.cursor = first + found
        elif self._place is not None and rows:
            self.cursor = first + self._nearest(rows, self._place)
        self.cursor = max(0, min(self.cursor, total - 1))
        self._hold()
        return self.cursor - before

    def _nearest(self, rows: Sequence[Row], place: Cursor) -> int:
        """The first row behind the place of a memory that is gone; without one, the last."""
        times = [memory_of(row).created_at_ms or 0 for row in rows]
        is_rising = times[0] < times[-1]
        for at, created in enumerate(times):
            if (created > place.created_at_ms) if is_rising else (created < place.created_at_ms):
                return at
        return len(rows) - 1

    def _hold(self) -> None:
        row = self.cursor_row
        self._id = memory_of(row).id if row is not None else None
        self._place = Cursor.of(row) if isinstance(row, NodeRow) else None
