"""The words that a query keeps out, looked for in the texts of the few memories that it comes to.

As a part of an SQL condition they list every memory that holds one, 3 µs each, each time that it is asked: for a
word of 100,000 memories 0.3 s.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import apsw

from tierdeck.search.query.fts import quoted
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.rows.condition import Condition
from tierdeck.search.rows.read_memories import MAX_SCORED_CHARS, ReadMemories
from tierdeck.store.rows import as_bytes, text_of


class Exclusion:
    """The excluded words and phrases of one query, inside one snapshot.

    `condition`: what may be shown but for them.
    """

    def __init__(
        self, conn: apsw.Connection, condition: Condition, texts: Sequence[str], memories: ReadMemories
    ) -> None:
        self.condition = condition
        self._conn = conn
        self._memories = memories
        self._tokenizer = Tokenizer(conn)
        self._keys = [key for text in texts if (key := self._tokenizer.key(text))]
        self._match = " OR ".join(quoted(text) for text in texts)

    def holding(self, ids: Collection[str]) -> set[str]:
        """Those of the memories that hold an excluded word or phrase."""
        holding: set[str] = set()
        long = []
        for node_id, text in self._memories.texts(ids):
            if len(text) >= MAX_SCORED_CHARS:  # not all of it was read
                long.append(node_id)
            elif self.holds(text):
                holding.add(node_id)
        return holding.union(self._by_index(long)) if long else holding

    def holds(self, text: str) -> bool:
        """Whether an excluded word or phrase stands in the text."""
        tokens = self._tokenizer.words(text)
        there = set(tokens)
        return any(there.issuperset(key) and (len(key) == 1 or _stands(key, tokens)) for key in self._keys)

    def _by_index(self, ids: list[str]) -> list[str]:
        rows = self._conn.execute(
            f"SELECT {as_bytes('node_id')} FROM content_fts WHERE content_fts MATCH ?"
            " AND node_id IN (SELECT value FROM json_each(?))",
            (self._match, json.dumps(ids)),
        )
        return [text_of(row[0]) for row in rows]


def _stands(key: tuple[str, ...], tokens: Sequence[str]) -> bool:
    """Whether a phrase's words stand side by side."""
    return any(tuple(tokens[at : at + len(key)]) == key for at, token in enumerate(tokens) if token == key[0])
