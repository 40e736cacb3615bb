"""Which memories a query picks in a large store, with a bound on the rows that are looked at.

bm25 of a match costs 0.5 µs and its memory's row 8 µs, so that words of every tenth of 1,000,000 memories can't all
be scored to find the best. Rare words pick; where there are none, memories that hold all the words, newest first,
and then the newest that hold one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial

import apsw

from tierdeck.search.query.fts import Match
from tierdeck.search.rows.condition import Condition
from tierdeck.search.rows.exclusion import Exclusion
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.search.words.word_source import WordSource
from tierdeck.store.rows import as_bytes, text_of

PICK_ROWS = 6_000
MAX_LOOKED_ROWS = 6_000
MAX_ALLOWED_ROWS = 5_000
_FIRST_PAGE_ROWS = 400
_NO_LIMIT = (1 << 63) - 1


class LargePool:
    """The memories that one query picks, inside one snapshot; `is_cut` says whether some were not looked at."""

    def __init__(
        self,
        conn: apsw.Connection,
        words: WordSource,
        memories: ReadMemories,
        holding: Callable[[Match, Sequence[str]], Collection[str]],
        condition: Condition,
        exclusion: Exclusion | None = None,
    ) -> None:
        """
        Args:
            holding: those of the memories in whose text something stands that scores.
            condition: what may be shown, but for what is excluded.
            exclusion: words and phrases that keep a memory out. In the condition each look would list every
                memory that holds one, 3 µs each.
        """
        self._not = f" NOT ({exclusion.expression})" if exclusion else ""
        self._conn = conn
        self._words = words
        self._memories = memories
        self._holding = holding
        self._condition = condition
        self._exclusion = exclusion
        self.is_cut = False

    def best(self, match: Match, picking_rows: int, limit_rows: int) -> list[str]:
        """The ids of what the query picks and the condition lets through, at most `limit_rows`.

        Args:
            picking_rows: in how many memories its picking words stand, added up; estimated.
        """
        if picking_rows <= PICK_ROWS and match.pool != match.together:
            meeting = partial(self._meeting, match)
            return self._kept(self._words.best(self._without(match.pool), self._condition, limit_rows, meeting))
        ids: dict[str, None] = {}
        for expression in dict.fromkeys((match.together, match.scored, match.pool)):
            if expression is not None and len(ids) < limit_rows:
                newest = self._newest(match, self._without(expression), limit_rows - len(ids))
                ids.update(dict.fromkeys(newest))
            if expression == match.pool:
                break
        return list(ids)

    def _without(self, expression: str) -> str:
        return f"({expression}){self._not}" if self._not else expression

    def _meeting(self, match: Match, rowids: list[int]) -> list[str]:
        """The ids of full-text rows' memories that meet the condition, in the order of the rows, each once.

        Mostly a row has the number of its memory's own row, and then only that one is read, with the text, which
        tells: something that was looked for stands in it. Of the others the full-text row itself is asked whose it
        is; where one is another's, all are. Were all rows another's that all hold such a word, then these would
        be the memories that match.
        """
        owners = self._memories.numbered(rowids, self._condition)
        holding = self._holding(match, list(owners.values()))
        doubtful = [rowid for rowid in rowids if owners.get(rowid) not in holding]
        if doubtful and not self._words.are_own(doubtful):
            return self._kept(self._words.meeting(rowids, self._condition))
        return self._kept([owners[rowid] for rowid in rowids if rowid in owners])

    def _kept(self, ids: list[str]) -> list[str]:
        """Those that hold no excluded word glued to something."""
        return self._exclusion.without_glued(ids) if self._exclusion else ids

    def _first_meeting(self, match: Match, rowids: list[int], limit_rows: int) -> list[str]:
        """The same, no more than wanted, and no more rows are read than that mostly takes."""
        first = limit_rows + limit_rows // 4
        ids = self._meeting(match, rowids[:first])
        if len(ids) < limit_rows and len(rowids) > first:
            ids += self._meeting(match, rowids[first:])
        return ids[:limit_rows]

    def _newest(self, match: Match, expression: str, limit_rows: int) -> list[str]:
        """The newest matches that meet the condition; of a filter that lets few through all are looked at."""
        ids: list[str] = []
        below, looked, page_rows = _NO_LIMIT, 0, max(_FIRST_PAGE_ROWS, 2 * limit_rows)
        while len(ids) < limit_rows:
            rows = self._page(expression, below, page_rows)
            ids += self._first_meeting(match, rows, limit_rows - len(ids))
            looked += len(rows)
            if len(rows) < page_rows:
                return ids[:limit_rows]
            below, page_rows = rows[-1], min(4 * page_rows, MAX_LOOKED_ROWS)
            if looked >= MAX_LOOKED_ROWS and not self._condition.keeps_most and self._allowed is not None:
                among = self._words.meeting(self._among(expression, self._allowed), self._condition)
                return self._kept(among)[:limit_rows]
            if looked >= MAX_LOOKED_ROWS and ids:
                break
        self.is_cut = True
        return ids[:limit_rows]

    def _page(self, expression: str, below: int, limit_rows: int) -> list[int]:
        found = self._conn.execute(
            "SELECT rowid FROM content_fts WHERE content_fts MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
            (expression, below, limit_rows),
        )
        return [int(row[0]) for row in found]

    @cached_property
    def _allowed(self) -> list[str] | None:
        """The ids that the condition lets through, when they are few."""
        found = self._conn.execute(
            f"SELECT {as_bytes('n.id')} FROM nodes n WHERE {self._condition.sql} LIMIT ?",
            (*self._condition.params, MAX_ALLOWED_ROWS + 1),
        ).fetchall()
        return [text_of(row[0]) for row in found] if len(found) <= MAX_ALLOWED_ROWS else None

    def _among(self, expression: str, ids: list[str]) -> list[int]:
        """The matches of those memories, newest first, by one pass over all matches."""
        if not ids:
            return []
        found = self._conn.execute(
            "SELECT rowid FROM content_fts WHERE content_fts MATCH ?"
            " AND +rowid IN (SELECT n.rowid FROM nodes n WHERE n.id IN (SELECT value FROM json_each(?)))"
            " ORDER BY rowid DESC",
            (expression, json.dumps(ids)),
        )
        return [int(row[0]) for row in found]
