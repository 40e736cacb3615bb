"""Words of a query that stand in no memory, and those near to them that do: for a search that finds too little."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from tierdeck.errors import IndexFileError
from tierdeck.search.answer.hit import MissingWord
from tierdeck.search.query.fts import quoted
from tierdeck.search.query.terms import Term
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.terms.near_words import most_edits, near_words
from tierdeck.terms.term_index import TermIndex
from tierdeck.terms.vocabulary import words_of_index

MAX_MISSING = 3
# Reading the words of a store without an index file: 0.02 s for so many memories.
MAX_LIVE_ROWS = 20_000
_MAX_SURFACE_CHARS = 100_000


def missing_words(
    conn: apsw.Connection,
    tokenizer: Tokenizer,
    index: TermIndex | None,
    terms: Sequence[Term],
    store_rows: int,
) -> tuple[MissingWord, ...]:
    """The words that no memory holds, each with the nearest that one does, as it is written there.

    Args:
        index: knows the store's words; without it those of a small store are read, of a large one none is named.
        terms: words that stand nowhere, neither whole nor as a part of a compound name.
    """
    live: list[tuple[str, int]] | None = None
    found = []
    for term in terms[:MAX_MISSING]:
        near: tuple[str, ...] | None = ()
        if len(term.key) == 1 and most_edits(term.key[0]):
            near = _by_index(index, term.key[0])
            if near is None and store_rows <= MAX_LIVE_ROWS:
                live = words_of_index(conn) if live is None else live
                near = near_words(term.key[0], live)
        written = (_as_written(conn, tokenizer, word) for word in near or ())
        found.append(MissingWord(term.text, tuple(dict.fromkeys(text for text in written if text))))
    return tuple(found)


def _by_index(index: TermIndex | None, word: str) -> tuple[str, ...] | None:
    try:
        return index.near_words(word) if index is not None else None
    except IndexFileError:
        return None


def _as_written(conn: apsw.Connection, tokenizer: Tokenizer, word: str) -> str | None:
    """How the newest memory with the word writes it; the index keeps it folded and stemmed."""
    row = conn.execute(
        f"SELECT {as_bytes(f'substr(content, 1, {_MAX_SURFACE_CHARS})')} FROM content_fts"
        " WHERE content_fts MATCH ? ORDER BY rowid DESC LIMIT 1",
        (quoted(word),),
    ).fetchone()
    text = text_of(row[0]) if row else ""
    spans = tokenizer.spans(text, lambda token: token == word)
    return text[spans[0][0] : spans[0][1]].lower() if spans else None
