"""What the index of extra terms holds of each memory, summed up in one walk: 16 bytes a memory at any size."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable

import apsw

from tierdeck.terms.term_table import HELD, TERMS

_MASK = (1 << 64) - 1


class HeldSums:
    """One number for each memory's terms, to compare with the number of the terms that its text gives."""

    def __init__(self, conn: apsw.Connection) -> None:
        """
        Args:
            conn: reads the index file; a table of its own for the time of the walk is no write to the file.
        """
        self._ids = array("q", (int(row[0]) for row in conn.execute(f"SELECT id FROM {HELD} ORDER BY id")))
        self._sums = array("Q", bytes(8 * len(self._ids)))
        self.strays = 0
        """How many entries belong to no memory that FTS5 has on its own list."""
        is_query_only = conn.pragma("query_only")
        conn.pragma("query_only", False)
        try:
            conn.execute(f"CREATE VIRTUAL TABLE temp.td_held USING fts5vocab('main', '{TERMS}', 'instance')")
            # As bytes: what was overwritten need not be text any more.
            for term, n in conn.execute("SELECT CAST(term AS BLOB), doc FROM temp.td_held"):
                self._add(hash(term), int(n))
        finally:
            conn.execute("DROP TABLE IF EXISTS temp.td_held")
            conn.pragma("query_only", is_query_only)

    def fits(self, n: int, terms: Iterable[str]) -> bool:
        """Whether the memory has these terms and no others."""
        wanted = sum(hash(term.encode()) for term in terms) & _MASK
        at = bisect_left(self._ids, n)
        is_there = at < len(self._ids) and self._ids[at] == n
        return wanted == (self._sums[at] if is_there else 0)

    def _add(self, digest: int, n: int) -> None:
        at = bisect_left(self._ids, n)
        if at < len(self._ids) and self._ids[at] == n:
            self._sums[at] = (self._sums[at] + digest) & _MASK
        else:
            self.strays += 1
