"""The extra terms brought up to the store: what changed, or everything where the store can't say what did.

Texts are read in short reads and cut up outside any transaction; each group of memories commits by itself, so that
a run that is stopped or killed loses little and the next one goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import apsw

from tierdeck import db
from tierdeck.index.file import index_errors, open_for_writing
from tierdeck.index.path import index_path
from tierdeck.index.store_texts import has_changes, is_same_history, last_change
from tierdeck.store import Store
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.terms.of_text import terms_of_text
from tierdeck.terms.term_table import (
    ROWS,
    TermProgress,
    prepare_terms,
    put_rows,
    read_progress,
    remove_rows,
    save_progress,
    text_hash,
)
from tierdeck.terms.vocabulary import needs_vocabulary, save_vocabulary, words_of_index

_PAGE_ROWS = 512
_PAGE_BYTES = 4_000_000
_CHECK_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class _Page:
    """Memories of one short read by rowid, their texts, and where the next read begins."""

    texts: tuple[tuple[int, str], ...]
    end: int
    node: str | None = None
    has_gone: bool = False


def fill_terms(store: Store, *, should_stop: Callable[[], bool] | None = None) -> bool:
    """Bring the extra terms of a store up to its texts of now; needs no embedding model and sends nothing.

    Args:
        should_stop: asked before each group of memories.

    Returns:
        False when it was stopped on the way, which loses nothing.

    Raises:
        IndexFileError, StoreBusyError, ModelUnavailableError: the index file can't be used; what was done stays.
    """
    with closing(open_for_writing(store)) as conn, index_errors(index_path(store)):
        return bring_up(conn, store, should_stop or (lambda: False))


def bring_up(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    """The same on an index file that is open for writing."""
    with db.transaction(conn):
        prepare_terms(conn)
    return _bring_up_rows(conn, store, should_stop) and _bring_up_words(conn, store, should_stop)


def _bring_up_words(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    """Take in the store's words anew, when it is of another size than when that was done."""
    rows = int(conn.execute(f"SELECT count(*) FROM {ROWS}").get)
    if not needs_vocabulary(conn, rows):
        return True
    if should_stop():
        return False
    keeps = has_changes(store)
    words, seen = store.read(lambda look: (words_of_index(look), last_change(store) if keeps else (0, None)))
    with db.transaction(conn):
        save_vocabulary(conn, words, rows, seen)
    return True


def _bring_up_rows(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    progress = read_progress(conn)
    if has_changes(store):
        if progress.is_whole and is_same_history(store, progress.seen_seq, progress.seen_node):
            return _follow(conn, store, progress, should_stop)
        seq, node = last_change(store)  # before the look: what changes during it is looked at again
        return _all(conn, store, TermProgress(True, seq, node), should_stop)
    return _all(conn, store, TermProgress(is_whole=True), should_stop)


def _follow(conn: apsw.Connection, store: Store, progress: TermProgress, should_stop: Callable[[], bool]) -> bool:
    has_gone = False
    while page := store.read(partial(_changes_page, after_seq=progress.seen_seq)):
        if should_stop():
            return False
        made = [(n, text_hash(text), terms_of_text(text)) for n, text in page.texts]
        progress = replace(progress, seen_seq=page.end, seen_node=page.node)
        with db.transaction(conn):
            put_rows(conn, made)
            save_progress(conn, progress)
        has_gone = has_gone or page.has_gone
    return not has_gone or _remove_gone(conn, store, should_stop)


def _all(conn: apsw.Connection, store: Store, done: TermProgress, should_stop: Callable[[], bool]) -> bool:
    """Look at every memory, newest first, and make the terms of those whose text is another."""
    for page in _pages(store):
        if should_stop():
            return False
        _put_changed(conn, page.texts)
    if not _remove_gone(conn, store, should_stop):
        return False
    with db.transaction(conn):
        save_progress(conn, done)
    return True


def _put_changed(conn: apsw.Connection, texts: tuple[tuple[int, str], ...]) -> None:
    if not texts:
        return
    numbers = [n for n, _ in texts]
    known: dict[int, bytes] = {
        int(row[0]): bytes(row[1])
        for row in conn.execute(
            f"SELECT n, text_hash FROM {ROWS} WHERE n BETWEEN ? AND ?", (min(numbers), max(numbers))
        )
    }
    hashed = [(n, text_hash(text), text) for n, text in texts]
    made = [(n, digest, terms_of_text(text)) for n, digest, text in hashed if known.get(n) != digest]
    if made:
        with db.transaction(conn):
            put_rows(conn, made)


def _remove_gone(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    """Take out what has no memory any more, in ranges of rowids."""
    lowest = -(1 << 63)
    while not should_stop():
        known = [
            int(row[0])
            for row in conn.execute(f"SELECT n FROM {ROWS} WHERE n > ? ORDER BY n LIMIT ?", (lowest, _CHECK_ROWS))
        ]
        if not known:
            return True
        there = set(store.read(partial(_rowids, first=known[0], last=known[-1])))
        gone = [n for n in known if n not in there]
        if gone:
            with db.transaction(conn):
                remove_rows(conn, gone)
        lowest = known[-1]
    return False


def _rowids(conn: apsw.Connection, first: int, last: int) -> list[int]:
    rows = conn.execute("SELECT rowid FROM nodes WHERE rowid BETWEEN ? AND ?", (first, last))
    return [int(row[0]) for row in rows]


def _pages(store: Store) -> Iterator[_Page]:
    below = (1 << 63) - 1
    while page := store.read(partial(_rowid_page, below=below)):
        below = page.end
        yield page


def _rowid_page(conn: apsw.Connection, below: int) -> _Page | None:
    texts: list[tuple[int, str]] = []
    total = 0
    rows = conn.execute(
        f"SELECT n.rowid, {as_bytes('n.content')} FROM nodes n WHERE n.rowid < ? ORDER BY n.rowid DESC LIMIT ?",
        (below, _PAGE_ROWS),
    )
    for n, content in rows:
        texts.append((int(n), text_of(content)))
        total += len(texts[-1][1])
        if total > _PAGE_BYTES:
            break
    return _Page(tuple(texts), texts[-1][0]) if texts else None


def _changes_page(conn: apsw.Connection, after_seq: int) -> _Page | None:
    texts: list[tuple[int, str]] = []
    seen: tuple[int, str] | None = None
    has_gone = False
    total = 0
    rows = conn.execute(
        f"SELECT c.seq, CAST(c.node_id AS BLOB), n.rowid, {as_bytes('n.content')} FROM td_change c"
        " LEFT JOIN nodes n ON n.id = c.node_id WHERE c.seq > ? ORDER BY c.seq LIMIT ?",
        (after_seq, _PAGE_ROWS),
    )
    for seq, raw_id, n, content in rows:
        seen = (int(seq), text_of(raw_id))
        if n is None:
            has_gone = True
            continue
        texts.append((int(n), text_of(content)))
        total += len(texts[-1][1])
        if total > _PAGE_BYTES:
            break
    return None if seen is None else _Page(tuple(texts), *seen, has_gone)
