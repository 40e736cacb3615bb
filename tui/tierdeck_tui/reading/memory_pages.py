"""The store's list of memories in one order, page by page; what `MemoryList` reads from in its worker."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.model import NodeFilter
from tierdeck.store import Cursor, Page, Store, page_around, page_at_offset

# More than a screen of the tallest terminals in use holds (two lines a row), so one page is enough for a paint.
PAGE_ROWS = 100


@dataclass(frozen=True, slots=True)
class MemoryPages:
    """All memories that a filter lets through, newest first, or oldest first."""

    store: Store
    filter: NodeFilter
    is_oldest_first: bool = False

    def around(self, cursor: Cursor | None) -> Page:
        """The page with the cursor's memory in its middle; without a cursor, the first page."""
        if cursor is None:
            return self.at(0, None)
        half = PAGE_ROWS // 2
        page = page_around(self.store, self.filter, cursor, before_rows=half, after_rows=PAGE_ROWS - half - 1)
        return self._in_order(page)

    def at(self, first_row: int, total_rows: int | None) -> Page:
        """The page from row `first_row` on, moved up where the list ends before.

        Args:
            total_rows: how many rows the list had when it was last read; None when it never was.
        """
        if not self.is_oldest_first:
            if first_row == 0:
                return page_around(self.store, self.filter, None, before_rows=0, after_rows=PAGE_ROWS - 1)
            return page_at_offset(self.store, self.filter, first_row, PAGE_ROWS)
        # Beyond the end page_at_offset gives the last page, which holds the oldest.
        from_end = 2**62 if total_rows is None else max(0, total_rows - first_row - PAGE_ROWS)
        return self._in_order(page_at_offset(self.store, self.filter, from_end, PAGE_ROWS))

    def _in_order(self, page: Page) -> Page:
        if not self.is_oldest_first:
            return page
        return Page(page.rows[::-1], page.total_rows - page.first_row - len(page.rows), page.total_rows)
