"""Whether the list of words in the index file says what the store's full-text index says.

The list is of one state of the store, and a memory that changed since accounts for one row of a word at most: a
number that is off by more is wrong, and how many changed is on record in a store of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import apsw

from tierdeck import db
from tierdeck.index.file import get_setting
from tierdeck.index.store_texts import has_changes, is_same_history
from tierdeck.store import Store
from tierdeck.store.rows import text_of
from tierdeck.terms.vocabulary import MAX_WORD_CHARS, MAX_WORDS, VOCABULARY, read_words, words_of_index

# Of a larger store only some ranges of words are compared where nobody asked for a thorough look: to walk through
# all matches of all words takes 1.2 s at 1,000,000 memories.
ALL_UP_TO_ROWS = 20_000
_RANGES = 4
_RANGE_WORDS = 64
_CHANGED = "SELECT count(*) FROM td_change WHERE seq > ?"


def has_word_list(conn: apsw.Connection) -> bool:
    """Whether the words were taken in, so that there is a list to look at."""
    return isinstance(get_setting(conn, "vocabulary_rows"), int)


def word_fault(conn: apsw.Connection, store: Store, *, is_thorough: bool) -> str | None:
    """What is wrong with the list, as the end of a sentence; None when nothing is.

    Of another program's store, which keeps no record of what changed, only that there is a list.

    Args:
        conn: reads the index file, which has a list.
        is_thorough: compare every word, however large the store is.

    Raises:
        StoreError: the store can't be read.
    """
    with db.transaction(conn):
        try:
            return _fault(conn, store, is_thorough=is_thorough)
        except (apsw.CorruptError, apsw.SQLError) as e:
            return f"it can't be read ({e})"


def _fault(conn: apsw.Connection, store: Store, *, is_thorough: bool) -> str | None:
    seq, mark = get_setting(conn, "vocabulary_seq"), get_setting(conn, "vocabulary_node")
    rows = get_setting(conn, "vocabulary_rows")
    is_empty = conn.execute(f"SELECT 1 FROM {VOCABULARY} LIMIT 1").fetchone() is None
    if is_empty:
        return "it is empty" if store.read(partial(_range, first="", most=1)) else None
    if not isinstance(seq, int) or not _is_known(store, seq, mark):
        return None
    if is_thorough or (isinstance(rows, int) and rows <= ALL_UP_TO_ROWS):
        words, changed = store.read(lambda look: (words_of_index(look), int(look.execute(_CHANGED, (seq,)).get)))
        if not words:  # the full-text index can't be read, which its own check says, or every memory is gone
            return None
        is_cut = len(words) >= MAX_WORDS
        return _difference(dict(words), dict(_kept(conn, "", -1)), changed, is_cut=is_cut)
    sql = f"SELECT term FROM {VOCABULARY} ORDER BY random() LIMIT ?"
    for (first,) in conn.execute(sql, (_RANGES,)).fetchall():
        fault = _fault_of_range(conn, store, str(first), seq)
        if fault is not None:
            return fault
    return None


def can_compare(conn: apsw.Connection, store: Store) -> bool:
    """Whether it can be told what the store changed since the words were taken in; else nothing is compared."""
    seq, mark = get_setting(conn, "vocabulary_seq"), get_setting(conn, "vocabulary_node")
    return isinstance(seq, int) and _is_known(store, seq, mark)


def _is_known(store: Store, seq: int, mark: object) -> bool:
    return has_changes(store) and is_same_history(store, seq, None if mark is None else str(mark))


def _fault_of_range(conn: apsw.Connection, store: Store, first: str, seq: int) -> str | None:
    """Compare the words from one on, as far as both sides were read."""
    look = partial(_range, first=first, most=_RANGE_WORDS)
    there, changed = store.read(lambda c: (look(c), int(c.execute(_CHANGED, (seq,)).get)))
    kept = _kept(conn, first, _RANGE_WORDS)
    if not there or not kept:
        return None
    last = min(max(word for word, _ in there).encode(), max(word for word, _ in kept).encode())
    is_cut = int(conn.execute(f"SELECT count(*) FROM {VOCABULARY}").get) >= MAX_WORDS
    sides = [{word: rows for word, rows in side if word.encode() <= last} for side in (there, kept)]
    return _difference(sides[0], sides[1], changed, is_cut=is_cut)


def _difference(
    there: Mapping[str, object], kept: Mapping[str, object], changed: int, *, is_cut: bool
) -> str | None:
    """The first word whose number is off by more than the changes account for.

    Args:
        is_cut: whether the store has more words than the list takes, so that one may be on one side only.
    """
    for word in sorted({*there, *kept}, key=str.encode):
        is_on_one_side = word not in there or word not in kept
        if (is_cut and is_on_one_side) or "\ufffd" in word:  # bytes that are no text: several words read so
            continue
        rows, noted = there.get(word, 0), kept.get(word, 0)
        if not isinstance(rows, int) or not isinstance(noted, int) or abs(rows - noted) > changed:
            return f"{word!r} stands in {rows} memories, not {noted}"
    return None


def _kept(conn: apsw.Connection, first: str, most: int) -> list[tuple[str, object]]:
    sql = f"SELECT CAST(term AS BLOB), rows FROM {VOCABULARY} WHERE term >= ? ORDER BY term LIMIT ?"
    return [(text_of(word), rows) for word, rows in conn.execute(sql, (first, most))]


def _range(conn: apsw.Connection, first: str, most: int) -> list[tuple[str, int]]:
    """The words of the full-text index from one on, by their bytes, and in how many rows each stands."""
    which = "WHERE term >= ? AND length(term) <= ? ORDER BY term LIMIT ?"
    return read_words(conn, which, (first, MAX_WORD_CHARS, most))
