"""The words that a query keeps out, looked for in the texts of the few memories that it comes to.

As a part of an SQL condition they list every memory that holds one, 3 µs each, each time that it is asked: for a
word of 100,000 memories 0.3 s.

A word keeps out as well what holds it glued to another script (`用Go写`) or in another form: the full-text index
does not know these, and a search for the word finds them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from weakref import WeakSet

import apsw

from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.rows.condition import Condition, any_of, in_both_forms
from tierdeck.search.rows.read_memories import MAX_SCORED_CHARS, ReadMemories
from tierdeck.store.rows import SQLValue, as_bytes, text_of
from tierdeck.terms.normal_form import normal_form
from tierdeck.terms.piece_spans import stands_alone
from tierdeck.terms.scripts import UNSPACED, script_runs
from tierdeck.terms.words import split_words

_STANDS = "tierdeck_stands"
_ESCAPE = "\x1b"
_KNOWING: WeakSet[apsw.Connection] = WeakSet()


class Exclusion:
    """The excluded words and phrases of one query, inside one snapshot.

    `condition`: what may be shown but for them. `expression`: finds them in the full-text index.
    """

    def __init__(
        self, conn: apsw.Connection, condition: Condition, texts: Sequence[str], memories: ReadMemories
    ) -> None:
        self.condition = condition
        self._conn = conn
        self._memories = memories
        self._tokenizer = Tokenizer(conn)
        self._keys = [key for text in in_both_forms(texts) if (key := self._tokenizer.key(text))]
        self.expression = any_of(texts)
        self._lone = _lone_words(texts)

    def holding(self, ids: Collection[str]) -> set[str]:
        """Those of the memories that hold an excluded word or phrase."""
        holding: set[str] = set()
        long = []
        for node_id, text in self._memories.texts(ids):
            if len(text) < MAX_SCORED_CHARS:
                is_held = self.holds(text)
            else:  # not all of it was read
                long.append(node_id)
                is_held = self._holds_glued(text)
            if is_held:
                holding.add(node_id)
        return holding.union(self._by_index(long)) if long else holding

    def holding_glued(self, ids: Collection[str]) -> set[str]:
        """Those that hold an excluded word glued to something, which the full-text index can't tell of."""
        if not self._lone:
            return set()
        return {node_id for node_id, text in self._memories.texts(ids) if self._holds_glued(text)}

    def without_glued(self, ids: list[str]) -> list[str]:
        """Those of the memories that hold none so, in their order."""
        out = self.holding_glued(ids)
        return [node_id for node_id in ids if node_id not in out] if out else ids

    def holds(self, text: str) -> bool:
        """Whether an excluded word or phrase stands in the text."""
        tokens = self._tokenizer.words(text)
        there = set(tokens)
        is_whole = any(there.issuperset(key) and (len(key) == 1 or _stands(key, tokens)) for key in self._keys)
        return is_whole or self._holds_glued(text)

    def _holds_glued(self, text: str) -> bool:
        if text.isascii() and _ESCAPE not in text:
            return False
        return any(stands_alone(word, text) for word in self._lone)

    def _by_index(self, ids: list[str]) -> list[str]:
        rows = self._conn.execute(
            f"SELECT {as_bytes('node_id')} FROM content_fts WHERE content_fts MATCH ?"
            " AND node_id IN (SELECT value FROM json_each(?))",
            (self.expression, json.dumps(ids)),
        )
        return [text_of(row[0]) for row in rows]


def without_glued(conn: apsw.Connection, condition: Condition, texts: Sequence[str]) -> Condition:
    """The condition, and that none of the excluded words is glued to something in the memory's text.

    Each text that is not ASCII is looked into that meets the condition: for a small store.
    """
    words = _lone_words(texts)
    if not words:
        return condition
    if conn not in _KNOWING:  # SQLite compiles a connection's statements anew after it
        conn.create_scalar_function(_STANDS, _stands_in, -1, deterministic=True)
        _KNOWING.add(conn)
    asked = ", ".join("?" * len(words))
    sql = (
        # CASE: of AND as a value both sides are worked out.
        f"{condition.sql} AND NOT CASE WHEN octet_length(n.content) > length(n.content)"
        f" OR instr(n.content, char(27)) THEN {_STANDS}(CAST(n.content AS BLOB), {asked}) ELSE 0 END"
    )
    return Condition(sql, (*condition.params, *words))


def _stands_in(*values: SQLValue) -> int:
    """An SQL function of a text and words: whether one of these stands alone in it."""
    content, *words = values
    text = text_of(content)
    return int(any(stands_alone(str(word), text) for word in words))


def _lone_words(texts: Sequence[str]) -> list[str]:
    """The excluded words, without phrases and what is written without spaces, whose ends nobody sees."""
    split = [split_words(normal_form(text)) for text in texts]
    words = dict.fromkeys(words[0] for words in split if len(words) == 1)
    return [word for word in words if script_runs(word) == [word] and not UNSPACED.match(word)]


def _stands(key: tuple[str, ...], tokens: Sequence[str]) -> bool:
    """Whether a phrase's words stand side by side."""
    return any(tuple(tokens[at : at + len(key)]) == key for at, token in enumerate(tokens) if token == key[0])
