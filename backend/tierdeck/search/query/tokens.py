"""The full-text index's own tokenizer, asked for the words of a text: what it sees is what FTS5 sees.

Our stores and the family's use `porter`; another program's may use another built-in one, so the table says which.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

import apsw

_TOKENIZE = re.compile(r"""tokenize\s*=\s*(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|(\w+))""", re.IGNORECASE)
_ARGUMENT = re.compile(r"'((?:[^']|'')*)'|(\S+)")
_DEFAULT = "unicode61"


@dataclass(frozen=True, slots=True)
class Token:
    """One word as the index keeps it (folded, stemmed), and where in the text it stands, in characters."""

    text: str
    start: int
    end: int


class _OwnSplitters(threading.local):
    """SQLite's tokenizers on a connection of each thread's own, for texts are marked after the store was read."""

    def __init__(self) -> None:
        self._conn = apsw.Connection(":memory:")
        self._by_name: dict[tuple[str, ...], apsw.FTS5Tokenizer] = {}

    def splitter(self, name: tuple[str, ...]) -> apsw.FTS5Tokenizer:
        """The tokenizer of that name and arguments."""
        if name not in self._by_name:
            self._by_name[name] = self._conn.fts5_tokenizer(name[0], list(name[1:]))
        return self._by_name[name]


_own = _OwnSplitters()


class Tokenizer:
    """Splits and stems as the store's full-text index does (5 µs for 400 characters). Safe to use from threads."""

    def __init__(self, conn: apsw.Connection) -> None:
        """Read from the schema which tokenizer the index has.

        Raises:
            apsw.SQLError: it is one that this program has not.
        """
        row = conn.execute("SELECT sql FROM sqlite_master WHERE name = 'content_fts'").fetchone()
        name, *arguments = _arguments(str(row[0]) if row else "")
        self._name = (name, *arguments)
        _own.splitter(self._name)

    def _split(self, data: bytes, *, has_offsets: bool) -> object:
        if has_offsets:
            return _own.splitter(self._name)(data, apsw.FTS5_TOKENIZE_DOCUMENT, None)
        split = _own.splitter(self._name)
        return split(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)

    def tokens(self, text: str) -> list[Token]:
        """The words of the text in their order."""
        data = text.encode("utf-8", "replace")
        found = cast("list[tuple[int, int, str]]", self._split(data, has_offsets=True))
        if text.isascii():
            return [Token(word, start, end) for start, end, word, *_ in found]
        begins = list(accumulate((len(c.encode("utf-8", "replace")) for c in text), initial=0))
        return [
            Token(word, bisect_right(begins, start) - 1, bisect_right(begins, end - 1))
            for start, end, word, *_ in found
        ]

    def wanted(self, text: str, is_wanted: Callable[[str], bool]) -> list[Token]:
        """The words that are wanted as the index keeps them."""
        if not text.isascii():
            return [token for token in self.tokens(text) if is_wanted(token.text)]
        found = cast("list[tuple[int, int, str]]", self._split(text.encode(), has_offsets=True))
        return [Token(word, start, end) for start, end, word, *_ in found if is_wanted(word)]

    def words(self, text: str) -> list[str]:
        """The words of the text as the index keeps them, in their order (9 µs for 400 characters)."""
        data = text.encode("utf-8", "replace")
        return cast("list[str]", self._split(data, has_offsets=False))

    def key(self, text: str) -> tuple[str, ...]:
        """What the index compares: two texts with the same key find the same memories; empty: it finds none."""
        return tuple(self.words(text))


def _arguments(table_sql: str) -> list[str]:
    match = _TOKENIZE.search(table_sql)
    if not match:
        return [_DEFAULT]
    spelled = (match[1] or "").replace('""', '"') or (match[2] or "").replace("''", "'") or match[3]
    parts = [quoted.replace("''", "'") or plain for quoted, plain in _ARGUMENT.findall(spelled or "")]
    return parts or [_DEFAULT]
