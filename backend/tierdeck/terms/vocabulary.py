"""The words that the store's full-text index holds, the common ones first, kept in the index file.

For what FTS5 can't tell cheaply: which words begin with what is typed (75 ms for `con` at 1,000,000 memories),
which are near to one that stands nowhere, and in how many memories a common one stands. Words as the full-text
index keeps them: folded and stemmed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import apsw

from tierdeck.index.file import get_setting, set_setting
from tierdeck.store.rows import text_of

VOCABULARY = "vocabulary"
MAX_WORDS = 200_000
MAX_WORD_CHARS = 40
# Made anew when the store has grown or shrunk by so much since.
_DRIFT = 0.1
_SCHEMA = f"CREATE TABLE IF NOT EXISTS {VOCABULARY} (term TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID"

Word = tuple[str, int]


@dataclass(frozen=True, slots=True)
class WordRows:
    """In how many rows words stood when the store's newest change was that one, and its history that of the mark;
    (0, None) where it keeps none.
    """

    rows: dict[str, int]
    seen_seq: int = 0
    seen_mark: str | None = None


def words_of_index(conn: apsw.Connection) -> list[Word]:
    """The words of a store's full-text index and in how many rows each stands, most frequent first.

    At most `MAX_WORDS`, of those no longer than `MAX_WORD_CHARS`; equally frequent ones in the order of the words.
    All matches of all words are walked through: 0.12 s for 100,000 memories. Empty where there is no such index or
    it is damaged, which `doctor` says.

    Args:
        conn: reads the store; a table of its own for the time of the look is made, which is no write to the store.
    """
    return read_words(conn, "WHERE length(term) <= ? ORDER BY doc DESC, term LIMIT ?", (MAX_WORD_CHARS, MAX_WORDS))


def read_words(conn: apsw.Connection, which: str, params: tuple[str | int, ...]) -> list[Word]:
    """Words of a store's full-text index and in how many rows each stands; see `words_of_index`.

    Args:
        which: the end of the SELECT, over `term` and `doc`.
    """
    is_query_only = conn.pragma("query_only")
    conn.pragma("query_only", False)
    try:
        # Left over from a look that was interrupted, it reads the index as it is now.
        conn.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.td_words USING fts5vocab('main', 'content_fts', 'row')"
        )
        rows = conn.execute(f"SELECT CAST(term AS BLOB), doc FROM temp.td_words {which}", params).fetchall()
        conn.execute("DROP TABLE temp.td_words")
    except (apsw.SQLError, apsw.CorruptError):
        return []
    finally:
        conn.pragma("query_only", is_query_only)
    return [(text_of(term), int(cast("int", count))) for term, count in rows]


def needs_vocabulary(conn: apsw.Connection, store_rows: int) -> bool:
    """Whether the words were never taken in, of a store of another size, or without saying of which change."""
    made_of = get_setting(conn, "vocabulary_rows")
    if not isinstance(made_of, int) or not isinstance(get_setting(conn, "vocabulary_seq"), int):
        return True
    return abs(store_rows - made_of) > _DRIFT * made_of


def save_vocabulary(
    conn: apsw.Connection, words: list[Word], store_rows: int, seen: tuple[int, str | None] = (0, None)
) -> None:
    """Put the words in place of those before; inside the caller's transaction.

    Args:
        seen: the store's newest change, and the mark of its history, in the snapshot that the words are of.
    """
    conn.execute(_SCHEMA)
    conn.execute(f"DELETE FROM {VOCABULARY}")
    conn.executemany(f"INSERT OR IGNORE INTO {VOCABULARY} VALUES (?, ?)", sorted(words))
    set_setting(conn, "vocabulary_rows", store_rows)
    set_setting(conn, "vocabulary_seq", seen[0])
    set_setting(conn, "vocabulary_node", seen[1])


def empty_vocabulary(conn: apsw.Connection) -> None:
    """Take all words out, inside the caller's transaction; the next run takes them in anew."""
    conn.execute(_SCHEMA)
    conn.execute(f"DELETE FROM {VOCABULARY}")
    set_setting(conn, "vocabulary_rows", None)


def has_vocabulary(conn: apsw.Connection) -> bool:
    """Whether the file has the table, with something in it."""
    row = conn.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (VOCABULARY,)).fetchone()
    return row is not None and conn.execute(f"SELECT 1 FROM {VOCABULARY} LIMIT 1").fetchone() is not None


def word_rows(conn: apsw.Connection, words: Iterable[str]) -> WordRows:
    """In how many rows each of the words stood; those that are not known are left out."""
    seq, mark = get_setting(conn, "vocabulary_seq"), get_setting(conn, "vocabulary_node")
    if not isinstance(seq, int):
        return WordRows({})
    found = conn.execute(
        f"SELECT term, rows FROM {VOCABULARY} WHERE term IN (SELECT value FROM json_each(?))",
        (json.dumps(list(words)),),
    )
    return WordRows({str(term): int(rows) for term, rows in found}, seq, mark if isinstance(mark, str) else None)


def words_with_prefix(conn: apsw.Connection, prefix: str, limit: int) -> list[Word]:
    """The most frequent words that begin so."""
    rows = conn.execute(
        f"SELECT term, rows FROM {VOCABULARY} WHERE term >= ? AND term < ? ORDER BY rows DESC, term LIMIT ?",
        (prefix, prefix + "\U0010ffff", limit),
    )
    return [(str(term), int(count)) for term, count in rows]


def words_from(conn: apsw.Connection, first: str, limit: int) -> list[Word]:
    """The words in their order, from one on."""
    sql = f"SELECT term, rows FROM {VOCABULARY} WHERE term >= ? ORDER BY term LIMIT ?"
    rows = conn.execute(sql, (first, limit))
    return [(str(term), int(count)) for term, count in rows]
