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


# What FTS5 keeps the terms in; `docsize` has a row for each memory with terms.
HELD = f"{TERMS}_docsize"
_TABLES = frozenset((TERMS, ROWS, HELD, f"{TERMS}_data", f"{TERMS}_idx", f"{TERMS}_config"))


@dataclass(frozen=True, slots=True)
class TermProgress:
    """How far the terms are: whether every memory was looked at once, and up to which change of the store.

    `seen_seq` is the newest change that was taken in, `seen_mark` what is remembered of the store's history then; 0
    and None where a store keeps none.
    `gone_seq` is the newest one by which a memory went while its terms may still be there, 0 when none are. `build`
    is another number after everything was thrown away.
    """

    is_whole: bool = False
    seen_seq: int = 0
    seen_mark: str | None = None
    gone_seq: int = 0
    build: int = 0


def prepare_terms(conn: apsw.Connection) -> None:
    """Make the tables where they are missing, anew when they are of other rules or don't hold what they should.

    Inside the caller's transaction.
    """
    has_any = conn.execute("SELECT 1 FROM sqlite_master WHERE name IN (?, ?)", (TERMS, ROWS)).fetchone()
    if has_any and (get_setting(conn, "terms_rules") != RULES or table_fault(conn) is not None):
        drop_terms(conn)
    conn.execute(_SCHEMA)
    set_setting(conn, "terms_rules", RULES)
    if not isinstance(get_setting(conn, "terms_held"), int):  # made by a version that did not count
        set_setting(conn, "terms_held", _count(conn, HELD))


def has_terms(conn: apsw.Connection) -> bool:
    """Whether the file has the tables; one of an earlier version has none."""
    return conn.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TERMS,)).fetchone() is not None


def table_fault(conn: apsw.Connection) -> str | None:
    """What is wrong with the tables by themselves, as the end of a sentence; None when nothing is."""
    there = {str(row[0]) for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    missing = sorted(_TABLES - there)
    if missing:
        return f"table {missing[0]} is missing"
    try:
        conn.execute(f"SELECT 1 FROM {TERMS} LIMIT 0").fetchall()
        conn.execute(f"SELECT n, text_hash, is_partial FROM {ROWS} LIMIT 0").fetchall()
        held = _count(conn, HELD)
    except (apsw.SQLError, apsw.CorruptError) as e:
        return f"they can't be opened ({e})"
    noted = get_setting(conn, "terms_held")
    if isinstance(noted, int) and noted != held:
        return f"{held:,} memories have some, not {noted:,}"
    return None


def drop_terms(conn: apsw.Connection) -> None:
    """Throw the tables away, in whatever state they are; inside the caller's transaction."""
    begin_anew(conn)
    conn.execute(f"DROP TABLE IF EXISTS {ROWS}")
    try:
        with conn:
            conn.execute(f"DROP TABLE IF EXISTS {TERMS}")
    except (apsw.SQLError, apsw.CorruptError):  # FTS5 can't open what lacks its own tables, not even to drop it
        conn.pragma("writable_schema", True)
        conn.execute("DELETE FROM sqlite_master WHERE name = ?", (TERMS,))
        conn.pragma("writable_schema", "RESET")
    for name in sorted(_TABLES):
        conn.execute(f"DROP TABLE IF EXISTS {name}")


def begin_anew(conn: apsw.Connection) -> None:
    """Note that nothing is held any more; inside the transaction that takes it out."""
    build = read_progress(conn).build + 1
    save_progress(conn, TermProgress())
    set_setting(conn, "terms_build", build)
    set_setting(conn, "terms_held", 0)


def read_progress(conn: apsw.Connection) -> TermProgress:
    """How far the terms are; nothing yet where they were made by other rules."""
    build = _number(conn, "terms_build")
    if get_setting(conn, "terms_rules") != RULES:
        return TermProgress(build=build)
    mark = get_setting(conn, "terms_seen_node")  # the key is from before there were marks
    return TermProgress(
        is_whole=get_setting(conn, "terms_whole") == 1,
        seen_seq=_number(conn, "terms_seen_seq"),
        seen_mark=mark if isinstance(mark, str) else None,
        gone_seq=_number(conn, "terms_gone_seq"),
        build=build,
    )


def save_progress(conn: apsw.Connection, progress: TermProgress) -> None:
    """Note how far the terms are; inside the caller's transaction. `build` stays as it is."""
    set_setting(conn, "terms_whole", int(progress.is_whole))
    set_setting(conn, "terms_seen_seq", progress.seen_seq)
    set_setting(conn, "terms_seen_node", progress.seen_mark)
    set_setting(conn, "terms_gone_seq", progress.gone_seq)


def text_hash(text: str) -> bytes:
    """What tells one text of a memory from another."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()


def put_rows(conn: apsw.Connection, rows: Iterable[tuple[int, bytes, TextTerms]]) -> None:
    """Put memories' terms in, in place of those they had; inside the caller's transaction."""
    more = 0
    for n, digest, made in rows:
        more -= _take_out(conn, n)
        if made.terms:
            conn.execute(f"INSERT INTO {TERMS} (rowid, terms) VALUES (?, ?)", (n, " ".join(sorted(made.terms))))
            more += 1
        conn.execute(f"INSERT OR REPLACE INTO {ROWS} VALUES (?, ?, ?)", (n, digest, made.is_partial))
    _add_held(conn, more)


def empty_terms(conn: apsw.Connection) -> None:
    """Take everything out, inside the caller's transaction; the next run makes it anew.

    A memory's terms alone would stay in the older segments of FTS5 until these are merged.
    """
    if has_terms(conn):
        conn.execute(f"INSERT INTO {TERMS} ({TERMS}) VALUES ('delete-all'); DELETE FROM {ROWS}")
        begin_anew(conn)


def remove_rows(conn: apsw.Connection, numbers: Iterable[int]) -> None:
    """Take memories out; inside the caller's transaction."""
    less = 0
    for n in numbers:
        less += _take_out(conn, n)
        conn.execute(f"DELETE FROM {ROWS} WHERE n = ?", (n,))
    _add_held(conn, -less)


def _take_out(conn: apsw.Connection, n: int) -> int:
    """Delete a memory's terms, and say of how many memories there were some.

    Asked of FTS5's own list and not of `term_row`: what is inserted over terms that are there stands beside them.
    """
    if conn.execute(f"SELECT 1 FROM {HELD} WHERE id = ?", (n,)).fetchone() is None:
        return 0
    conn.execute(f"DELETE FROM {TERMS} WHERE rowid = ?", (n,))
    return 1


def _add_held(conn: apsw.Connection, more: int) -> None:
    if more:
        set_setting(conn, "terms_held", _number(conn, "terms_held") + more)


def _number(conn: apsw.Connection, key: str) -> int:
    value = get_setting(conn, key)
    return value if isinstance(value, int) else 0


def _count(conn: apsw.Connection, table: str) -> int:
    return int(conn.execute(f"SELECT count(*) FROM {table}").get)
