"""In how many memories words stand: exact while that is cheap, from the list of words or from two samples beyond.

Counting a word's matches takes 32 ns each, 8 ms for a word of every fourth of 1,000,000 memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import apsw

from tierdeck.errors import IndexFileError
from tierdeck.search.query.fts import quoted
from tierdeck.search.rows.changed_since import changed_since
from tierdeck.search.rows.kept_counts import kept_counts
from tierdeck.terms.term_index import TermIndex

# From so many memories on, common words are not followed to their end.
LARGE_FROM_ROWS = 20_000
MAX_EXACT_ROWS = 6_000
_SAMPLE_PART = 40
# So much a number from the list of words may be off; the estimate from samples is off by more.
MAX_OFF = 0.01
MAX_CHANGED_ROWS = 1_000


def is_large(store_rows: int) -> bool:
    """Whether a store has so many memories that common words are not followed to their end."""
    return store_rows > LARGE_FROM_ROWS


class WordCounts:
    """Counts in the full-text index of one snapshot."""

    def __init__(self, conn: apsw.Connection, store_rows: int) -> None:
        self._conn = conn
        self.store_rows = store_rows
        self._noted: dict[str, int] = {}
        self._kept = kept_counts(conn)

    @property
    def is_large(self) -> bool:
        """Whether the store has so many memories that common words are sampled."""
        return is_large(self.store_rows)

    def rows_of_word(self, word: str, limit: int) -> int:
        """In how many memories the word stands, no more than `limit`; an estimate above `MAX_EXACT_ROWS`."""
        return self.rows(quoted(word), limit)

    def learn(self, index: TermIndex, keys: Mapping[str, tuple[str, ...]]) -> None:
        """Take it from the list of words in the index file in how many memories words stand.

        As many of them as changed since may have another number now: it is taken where that is little.

        Args:
            keys: what the full-text index makes of each word.
        """
        single = {word: key[0] for word, key in keys.items() if len(key) == 1}
        try:
            known = index.word_rows(single.values())
        except IndexFileError:
            return
        if not known.rows:
            return
        changed = changed_since(self._conn, known.seen_seq, known.seen_mark, MAX_CHANGED_ROWS)
        for word, key in single.items():
            rows = known.rows.get(key, 0)
            if rows and changed is not None and len(changed) <= MAX_OFF * rows:
                self.note(quoted(word), rows)

    def note(self, expression: str, rows: int) -> None:
        """Take it from elsewhere how many rows match an expression."""
        self._noted[expression] = rows

    def rows(self, expression: str, limit: int) -> int:
        """How many rows match, no more than `limit`; an estimate above `MAX_EXACT_ROWS` of a large store."""
        if not self.is_large:
            return self._counted(expression, limit)
        known = self._noted.get(expression)
        if known is None:
            if expression not in self._kept:
                exact = self._counted(expression, MAX_EXACT_ROWS + 1)
                self._kept[expression] = exact if exact <= MAX_EXACT_ROWS else self._sampled(expression)
            known = int(self._kept[expression])
        return min(limit, known)

    def _counted(self, expression: str, limit: int) -> int:
        sql = "SELECT count(*) FROM (SELECT 1 FROM content_fts WHERE content_fts MATCH ? LIMIT ?)"
        return int(self._conn.execute(sql, (expression, limit)).get)

    def _sampled(self, expression: str) -> int:
        """From the newest memories and from those in the middle."""
        low, high = self._ends
        size = max(1, (high - low) // _SAMPLE_PART)
        sql = "SELECT count(*) FROM content_fts WHERE content_fts MATCH ? AND rowid BETWEEN ? AND ?"
        found = sum(
            int(self._conn.execute(sql, (expression, start, start + size - 1)).get)
            for start in (high - size + 1, (low + high) // 2)
        )
        return max(MAX_EXACT_ROWS + 1, min(self.store_rows, found * (_SAMPLE_PART // 2)))

    @cached_property
    def _ends(self) -> tuple[int, int]:
        sql = "SELECT (SELECT min(rowid) FROM nodes), (SELECT max(rowid) FROM nodes)"
        [(low, high)] = self._conn.execute(sql).fetchall()
        return int(low or 0), int(high or 0)
