"""The extra terms and the list of words in the index file: whether search can go by them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import apsw

from tierdeck.index.file import index_errors, open_for_reading
from tierdeck.index.path import index_path
from tierdeck.maintenance.health import REBUILD_TERMS, REBUILD_WORDS, Check
from tierdeck.store import Store
from tierdeck.store.store import ReadOnlyReason
from tierdeck.terms.term_check import TermLook, look_at_terms
from tierdeck.terms.term_table import ROWS, TERMS
from tierdeck.terms.word_check import can_compare, has_word_list, word_fault

_EMBED = "tierdeck embed"


def check_terms(store: Store, *, is_thorough: bool) -> Check:
    """Whether the extra terms are those that the memories' texts give; thorough compares all of them.

    What the store changed since they were made is no fault: search looks into those texts themselves.

    Raises:
        IndexFileError, ModelUnavailableError: the index file can't be used.
    """
    conn = open_for_reading(store)
    if conn is None:
        return _none_yet()
    with closing(conn), index_errors(index_path(store)):
        if not conn.execute("SELECT 1 FROM sqlite_master WHERE name IN (?, ?)", (TERMS, ROWS)).fetchone():
            return _none_yet()
        return _check_of(store, look_at_terms(conn, store, is_thorough=is_thorough))


def check_words(store: Store, *, is_thorough: bool) -> Check:
    """Whether the list of words is that of the full-text index; thorough compares all of it.

    Raises:
        IndexFileError, ModelUnavailableError: the index file can't be used.
    """
    conn = open_for_reading(store)
    if conn is None:
        return _no_words_yet()
    with closing(conn), index_errors(index_path(store)):
        if not has_word_list(conn):
            return _no_words_yet()
        fault = word_fault(conn, store, is_thorough=is_thorough)
        is_compared = can_compare(conn, store)
    if fault is None and not is_compared:
        text = "there is a list of words; what changed since it was made can't be told, so it was not compared"
        return Check("word-list", "info", text)
    if fault is None:
        return Check("word-list", "ok", "the words that were compared stand as in the full-text index")
    text = f"near words and words being typed may be missed, the list of words is out of step: {fault}"
    return Check("word-list", "bad", text, as_opened(store, REBUILD_WORDS))


def unusable_terms(conn: apsw.Connection) -> tuple[str, ...]:
    """Why the table of the extra terms can't be opened at all; empty when it can, or is not there."""
    if not conn.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TERMS,)).fetchone():
        return ()
    try:
        conn.execute(f"SELECT 1 FROM {TERMS} LIMIT 0").fetchall()
    except (apsw.SQLError, apsw.CorruptError) as e:
        return (f"table {TERMS}: {e}",)
    return ()


def are_of_terms(faults: Sequence[str]) -> bool:
    """Whether lines of SQLite's check all speak of the extra terms' own full-text table."""
    return all(
        TERMS in line and line.startswith(("fts5: ", "malformed inverted index", "table ")) for line in faults
    )


def as_opened(store: Store, command: str) -> str:
    """The command, so that it works on the index file that was looked at: a store only read has one of its own."""
    return f"{command} --read-only" if store.read_only_reason is ReadOnlyReason.ASKED else command


def _check_of(store: Store, look: TermLook) -> Check:
    if look.faults:
        text = f"search inside words may miss memories, their extra terms are out of step: {'; '.join(look.faults)}"
        return Check("extra-terms", "bad", text, as_opened(store, REBUILD_TERMS), look.examples)
    if look.waiting:
        among = f" of the {look.looked_rows:,} memories looked at" if look.is_of_looked else " memories"
        text = f"{look.waiting:,}{among} wait for extra terms; search looks into the newest texts itself"
        return Check("extra-terms", "info", text, _EMBED)
    return Check("extra-terms", "ok", f"of {look.looked_rows:,} memories looked at each has the terms of its text")


def _none_yet() -> Check:
    return Check("extra-terms", "info", "there are none yet: search looks into the newest texts themselves", _EMBED)


def _no_words_yet() -> Check:
    return Check("word-list", "info", "there is none yet: search asks the full-text index itself", _EMBED)
