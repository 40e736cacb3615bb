"""How memories write a word that the full-text index keeps folded and stemmed: in their texts, newest first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

import apsw

from tierdeck.search.query.fts import quoted
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.rows.condition import Condition
from tierdeck.secret_scan import find_secrets
from tierdeck.store.rows import SQLValue, as_bytes, text_of
from tierdeck.terms.near_words import folded
from tierdeck.terms.of_text import MAX_RUN, MAX_TERM_CHARS
from tierdeck.terms.pieces import camel_parts
from tierdeck.terms.words import word_spans

MAX_COUNTED_ROWS = 10_000
# So many of the newest texts with a word are looked at (35 µs each), and more only where they have no wanted form.
FIRST_ROWS = 32
MAX_ROWS = 256
_MAX_TEXT_CHARS = 50_000
_MAX_CHARS_IN_ALL = 1_000_000

Spans = Callable[[str], Iterable[tuple[int, int]]]
Text = tuple[str, bool]
"""A memory's text, and whether it meets the condition."""


@dataclass(frozen=True, slots=True)
class Form:
    """A word as somebody wrote it, and in about how many memories; `is_hidden`: the filters hide all those seen."""

    text: str
    rows: float
    is_hidden: bool


class WrittenForms:
    """Looks into the texts of one snapshot; what stands in a secret is no form."""

    def __init__(
        self,
        conn: apsw.Connection,
        tokenizer: Tokenizer,
        condition: Condition,
        is_kept_out: Callable[[str], bool] | None = None,
    ) -> None:
        """
        Args:
            condition: what a memory has to meet not to be hidden.
            is_kept_out: tells by a text that meets it whether the query keeps it out, and so hides it too.
        """
        self._conn = conn
        self._tokenizer = tokenizer
        self._condition = condition
        self._is_kept_out = is_kept_out

    def counts(self, words: Sequence[str]) -> list[int]:
        """How many memories each word finds, no more than `MAX_COUNTED_ROWS` (20 µs where it finds none)."""
        rows = self._conn.execute(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM content_fts WHERE content_fts MATCH j.value LIMIT ?))"
            " FROM json_each(?) j ORDER BY j.key",
            (MAX_COUNTED_ROWS, json.dumps([quoted(word) for word in words])),
        )
        return [int(cast("int", row[0])) for row in rows]

    def begin(self, typed: str) -> bool:
        """Whether a word of the full-text index begins so, stemmed as it is."""
        sql = "SELECT 1 FROM content_fts WHERE content_fts MATCH ? LIMIT 1"
        return self._conn.execute(sql, (f"{quoted(typed)} *",)).fetchone() is not None

    def of_words(
        self,
        asked: str,
        is_word: Callable[[str], bool],
        is_wanted: Callable[[str], bool],
        *,
        rows: int | None = None,
        hints: Sequence[str] = (),
    ) -> dict[str, Form]:
        """The wanted ways in which memories write words that the index keeps as stems, by their folded form.

        Args:
            asked: an expression that finds memories with such words.
            is_word: tells from the stem whether it is one of those words.
            is_wanted: tells from the folded form whether it is a wanted one.
            rows: how many memories that expression finds; else forms count in the memories looked at.
            hints: with them texts that hold none of these, folded, are passed over (6 µs each), and so more are
                looked at.
        """

        def spans(text: str) -> Iterable[tuple[int, int]]:
            if hints and text.isascii() and not any(hint in text.lower() for hint in hints):
                return ()
            return [(token.start, token.end) for token in self._tokenizer.wanted(text, is_word)]

        most = MAX_ROWS if hints else FIRST_ROWS
        return _forms(self._texts_with(asked, most), spans, is_wanted, rows)

    def of_parts(self, rowids: Sequence[int], is_wanted: Callable[[str], bool]) -> dict[str, Form]:
        """The wanted parts of compound names in the memories with these rowids in `nodes`, by their folded form."""
        sql = f"SELECT {_TEXT}, {self._condition.sql} FROM json_each(?) j CROSS JOIN nodes n ON n.rowid = j.value"
        rows = self._conn.execute(sql, (*self._condition.params, json.dumps(list(rowids))))
        return _forms(self._bounded(rows), _part_spans, is_wanted, None)

    def _texts_with(self, asked: str, limit_rows: int) -> Iterator[Text]:
        rows = self._conn.execute(
            # CROSS: newest first by the full-text index, which so is followed no further than it is read.
            f"SELECT {_TEXT}, {self._condition.sql} FROM content_fts f CROSS JOIN nodes n ON n.id = f.node_id"
            " WHERE f.content_fts MATCH ? ORDER BY f.rowid DESC LIMIT ?",
            (*self._condition.params, asked, limit_rows),
        )
        return self._bounded(rows)

    def _bounded(self, rows: Iterable[tuple[SQLValue, ...]]) -> Iterator[Text]:
        chars = 0
        for content, meets in rows:
            text = text_of(content)
            yield text, bool(meets) and not (self._is_kept_out and self._is_kept_out(text))
            chars += len(text)
            if chars > _MAX_CHARS_IN_ALL:
                return


_TEXT = as_bytes(f"substr(n.content, 1, {_MAX_TEXT_CHARS})")


def _forms(
    texts: Iterable[Text], spans: Spans, is_wanted: Callable[[str], bool], rows: int | None
) -> dict[str, Form]:
    """The wanted forms, each as the newest text writes it; `rows`: of how many the texts are the newest."""
    written: dict[str, str] = {}
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    looked = 0
    for text, is_shown in texts:
        if looked == FIRST_ROWS and counts[True]:
            break
        looked += 1
        here = {folded(text[start:end]): (start, end) for start, end in spans(text)}
        for form in filter(is_wanted, here):
            if form not in written:
                if _is_secret(text, *here[form]):
                    continue
                written[form] = _cased(text[slice(*here[form])])
            counts[is_shown][form] += 1
    share = 1.0 if rows is None else rows / max(1, looked)
    return {
        form: Form(text, share * (counts[True][form] or counts[False][form]), is_hidden=not counts[True][form])
        for form, text in written.items()
    }


def _cased(word: str) -> str:
    """A name with capitals inside as it stands; other words in lower case, for one may begin a sentence."""
    return word.lower() if word[1:] == word[1:].lower() else word


def _is_secret(text: str, start: int, end: int) -> bool:
    return any(first < end and start < last for first, last, _ in find_secrets(text))


def _part_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where parts of compound names stand, and up to `MAX_RUN` of them in a row."""
    for start, end in word_spans(text):
        parts = camel_parts(text[start:end][:MAX_TERM_CHARS])
        if len(parts) < 2:
            continue
        ends = list(accumulate(map(len, parts), initial=start))
        for size in range(1, min(MAX_RUN, len(parts)) + 1):
            yield from zip(ends, ends[size:], strict=False)
