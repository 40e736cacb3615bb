"""The tables of the extra terms in the index file: which memory has which, and of which text they were made.

`extra_terms` is a contentless FTS5 index without positions (1 to 2 bytes an entry); its rowid is the memory's own
rowid in `nodes`. `term_row` knows every memory that was looked at, by the hash of its text. The rowids of another
program's store may be renumbered: then hashes differ, and every hit is checked against the text in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import apsw

from tierdeck.index.file import get_setting, set_setting
from tierdeck.terms.of_text import RULES, TextTerms

TERMS = "extra_terms"
ROWS = "term_row"
_HASH_BYTES = 8

# Words of a text are separated by spaces, and what is no space is part of a term: the signs are listed, and what
# is not ASCII belongs to a word by this tokenizer's own rule.
_SCHEMA = f"""
CREATE VIRTUAL TABLE IF NOT EXISTS {TERMS} USING fts5(
    terms, content = '', contentless_delete = 1, detail = none,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[]^_`{{|}}~''\\""'"
);
CREATE TABLE IF NOT EXISTS {ROWS} (
    n INTEGER PRIMARY KEY,
    text_hash BLOB NOT NULL,
    is_partial INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS {ROWS}_partial ON {ROWS} (n) WHERE is_partial;
"""


@dataclass(frozen=True, slots=True)
class TermProgress:
    """How far the terms are: whether every memory was looked at once, and up to which change of the store.

    `seen_seq` and `seen_node` name the newest change that was taken in; 0 and None where a store keeps none.
    """

    is_whole: bool = False
    seen_seq: int = 0
    seen_node: str | None = None


def prepare_terms(conn: apsw.Connection) -> None:
    """Make the tables where they are missing, anew when they are of other rules; in the caller's transaction."""
    if has_terms(conn) and get_setting(conn, "terms_rules") != RULES:
        conn.execute(f"DROP TABLE {TERMS}; DROP TABLE {ROWS}")
        save_progress(conn, TermProgress())
    conn.execute(_SCHEMA)
    set_setting(conn, "terms_rules", RULES)


def has_terms(conn: apsw.Connection) -> bool:
    """Whether the file has the tables; one of an earlier version has none."""
    return conn.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TERMS,)).fetchone() is not None


def read_progress(conn: apsw.Connection) -> TermProgress:
    """How far the terms are; nothing yet where they were made by other rules."""
    if get_setting(conn, "terms_rules") != RULES:
        return TermProgress()
    seq, node = get_setting(conn, "terms_seen_seq"), get_setting(conn, "terms_seen_node")
    return TermProgress(
        is_whole=get_setting(conn, "terms_whole") == 1,
        seen_seq=seq if isinstance(seq, int) else 0,
        seen_node=node if isinstance(node, str) else None,
    )


def save_progress(conn: apsw.Connection, progress: TermProgress) -> None:
    """Note how far the terms are; inside the caller's transaction."""
    set_setting(conn, "terms_whole", int(progress.is_whole))
    set_setting(conn, "terms_seen_seq", progress.seen_seq)
    set_setting(conn, "terms_seen_node", progress.seen_node)


def text_hash(text: str) -> bytes:
    """What tells one text of a memory from another."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()


def put_rows(conn: apsw.Connection, rows: Iterable[tuple[int, bytes, TextTerms]]) -> None:
    """Put memories' terms in, in place of those they had; inside the caller's transaction."""
    for n, digest, made in rows:
        if conn.execute(f"SELECT 1 FROM {ROWS} WHERE n = ?", (n,)).fetchone():
            conn.execute(f"DELETE FROM {TERMS} WHERE rowid = ?", (n,))
        if made.terms:
            conn.execute(f"INSERT INTO {TERMS} (rowid, terms) VALUES (?, ?)", (n, " ".join(sorted(made.terms))))
        conn.execute(f"INSERT OR REPLACE INTO {ROWS} VALUES (?, ?, ?)", (n, digest, made.is_partial))


def empty_terms(conn: apsw.Connection) -> None:
    """Take everything out, inside the caller's transaction; the next run makes it anew.

    A memory's terms alone would stay in the older segments of FTS5 until these are merged.
    """
    if has_terms(conn):
        conn.execute(f"INSERT INTO {TERMS} ({TERMS}) VALUES ('delete-all'); DELETE FROM {ROWS}")
        save_progress(conn, TermProgress())


def remove_rows(conn: apsw.Connection, numbers: Iterable[int]) -> None:
    """Take memories out; inside the caller's transaction."""
    for n in numbers:
        conn.execute(f"DELETE FROM {TERMS} WHERE rowid = ?", (n,))
        conn.execute(f"DELETE FROM {ROWS} WHERE n = ?", (n,))
