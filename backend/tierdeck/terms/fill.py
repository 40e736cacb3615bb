"""The extra terms brought up to the store: what changed, or everything where the store can't say what did.

Texts are read and cut up inside the transaction that keeps their terms, a few hundred at a time: of two runs that
read first and wrote later, the later one would put older terms in place of newer ones. Each group of memories
commits by itself, so that a run that is stopped or killed loses little and the next one goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import apsw

from tierdeck import db
from tierdeck.index.file import index_errors, open_for_writing
from tierdeck.index.history_mark import has_history, history_mark
from tierdeck.index.path import index_path
from tierdeck.index.store_texts import has_changes, history_after, is_same_history, last_change
from tierdeck.store import Store
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.terms.of_text import terms_of_text
from tierdeck.terms.term_table import (
    ROWS,
    drop_terms,
    prepare_terms,
    put_rows,
    read_progress,
    remove_rows,
    save_progress,
    text_hash,
)
from tierdeck.terms.vocabulary import (
    VOCABULARY,
    empty_vocabulary,
    has_vocabulary,
    needs_vocabulary,
    save_vocabulary,
    word_rows,
    words_of_index,
)

_PAGE_ROWS = 512
_PAGE_BYTES = 4_000_000
_CHECK_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class _Page:
    """Memories of one short read by rowid, their texts, and where the next read begins."""

    texts: tuple[tuple[int, str], ...]
    end: int
    mark: str | None = None
    gone_seq: int = 0


class _AnewError(Exception):
    """Somebody threw the terms away while they were made, rows of them were lost, or the store went back to a copy:
    all texts are looked at.
    """


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


def rebuild_terms(store: Store, *, should_stop: Callable[[], bool] | None = None) -> bool:
    """Throw the extra terms away, in whatever state they are, and make them anew. The rest as `fill_terms`."""
    with closing(open_for_writing(store)) as conn, index_errors(index_path(store)):
        with db.transaction(conn):  # another run finds the tables there, and begins anew
            drop_terms(conn)
            prepare_terms(conn)
        return bring_up(conn, store, should_stop or (lambda: False))


def rebuild_words(store: Store, *, should_stop: Callable[[], bool] | None = None) -> bool:
    """Throw the list of words away and take it in anew. The rest as `fill_terms`."""
    with closing(open_for_writing(store)) as conn, index_errors(index_path(store)):
        with db.transaction(conn):
            conn.execute(f"DROP TABLE IF EXISTS {VOCABULARY}")
            empty_vocabulary(conn)
        return bring_up(conn, store, should_stop or (lambda: False))


def bring_up(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    """The same on an index file that is open for writing; terms that turn out to be damaged are made anew."""
    with db.transaction(conn):
        prepare_terms(conn)
    try:
        is_done = _bring_up_rows(conn, store, should_stop)
    except apsw.CorruptError:
        with db.transaction(conn):
            drop_terms(conn)
            prepare_terms(conn)
        is_done = _bring_up_rows(conn, store, should_stop)
    return is_done and _bring_up_words(conn, store, should_stop)


def _bring_up_words(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    """Take in the store's words anew, when it is of another size or history than when that was done."""
    rows = int(conn.execute(f"SELECT count(*) FROM {ROWS}").get)
    keeps = has_changes(store)
    if not needs_vocabulary(conn, rows) and (not rows or (has_vocabulary(conn) and _is_known(conn, store))):
        return True
    if should_stop():
        return False
    words, seen = store.read(lambda look: (words_of_index(look), last_change(store) if keeps else (0, None)))
    with db.transaction(conn):
        save_vocabulary(conn, words, rows, seen)
    return True


def _is_known(conn: apsw.Connection, store: Store) -> bool:
    """Whether it can be told what the store changed since its words were taken in; or it never can."""
    taken = word_rows(conn, ())
    return not has_changes(store) or is_same_history(store, taken.seen_seq, taken.seen_mark)


def _bring_up_rows(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    keeps = has_changes(store)
    while True:
        progress = read_progress(conn)
        try:
            if keeps and progress.is_whole and is_same_history(store, progress.seen_seq, progress.seen_mark):
                return _follow(conn, store, should_stop)
            return _all(conn, store, progress.build, should_stop)
        except _AnewError:
            continue


def _follow(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    while not should_stop():
        with db.transaction(conn):
            # Another run may have gone on, or thrown everything away.
            progress = read_progress(conn)
            if not progress.is_whole:
                raise _AnewError
            page = store.read(partial(_changes_page, after_seq=progress.seen_seq, mark=progress.seen_mark))
            if page is None:
                break
            put_rows(conn, [(n, text_hash(text), terms_of_text(text)) for n, text in page.texts])
            gone_seq = page.gone_seq or progress.gone_seq
            save_progress(conn, replace(progress, seen_seq=page.end, seen_mark=page.mark, gone_seq=gone_seq))
    else:
        return False
    more = _rows_too_many(conn, store)
    if more < 0:
        with db.transaction(conn):
            save_progress(conn, replace(read_progress(conn), is_whole=False))
        raise _AnewError
    return not (more or progress.gone_seq) or _remove_gone(conn, store, should_stop)


def _rows_too_many(conn: apsw.Connection, store: Store) -> int:
    """How many more memories are known than the store has; negative when some are not, 0 too while others write.

    A memory that was deleted and added again between two runs leaves its old rowid behind, and no word of it.
    """
    with db.transaction(conn):
        progress = read_progress(conn)
        known = int(conn.execute(f"SELECT count(*) FROM {ROWS}").get)
        sql = "SELECT (SELECT count(*) FROM nodes), EXISTS (SELECT 1 FROM td_change WHERE seq > ?)"
        rows, has_more = store.read(lambda look: look.execute(sql, (progress.seen_seq,)).get)
    return 0 if has_more or not progress.is_whole else known - int(rows)


def _all(conn: apsw.Connection, store: Store, build: int, should_stop: Callable[[], bool]) -> bool:
    """Look at every memory, newest first, and make the terms of those whose text is another."""
    # Before the look: what changes during it is looked at again.
    seq, mark = last_change(store) if has_changes(store) else (0, None)
    below: int | None = (1 << 63) - 1
    while below is not None:
        if should_stop():
            return False
        with db.transaction(conn):
            page = store.read(partial(_rowid_page, below=below))
            _put_changed(conn, page.texts if page else ())
        below = page.end if page else None
    if not _remove_gone(conn, store, should_stop):
        return False
    with db.transaction(conn):
        progress = read_progress(conn)
        if progress.build != build:
            raise _AnewError
        after = None if mark is None else history_after(store, seq, mark)
        save_progress(conn, replace(progress, is_whole=True, seen_seq=seq, seen_mark=after))
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
    put_rows(conn, [(n, digest, terms_of_text(text)) for n, digest, text in hashed if known.get(n) != digest])


def _remove_gone(conn: apsw.Connection, store: Store, should_stop: Callable[[], bool]) -> bool:
    """Take out what has no memory any more, in ranges of rowids."""
    gone_seq = read_progress(conn).gone_seq
    lowest = -(1 << 63)
    while not should_stop():
        with db.transaction(conn):
            known = [
                int(row[0])
                for row in conn.execute(
                    f"SELECT n FROM {ROWS} WHERE n > ? ORDER BY n LIMIT ?", (lowest, _CHECK_ROWS)
                )
            ]
            if not known:
                progress = read_progress(conn)
                if progress.gone_seq == gone_seq:  # else another run saw more of them go meanwhile
                    save_progress(conn, replace(progress, gone_seq=0))
                return True
            there = set(store.read(partial(_rowids, first=known[0], last=known[-1])))
            remove_rows(conn, [n for n in known if n not in there])
        lowest = known[-1]
    return False


def _rowids(conn: apsw.Connection, first: int, last: int) -> list[int]:
    rows = conn.execute("SELECT rowid FROM nodes WHERE rowid BETWEEN ? AND ?", (first, last))
    return [int(row[0]) for row in rows]


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


def _changes_page(conn: apsw.Connection, after_seq: int, mark: str | None) -> _Page | None:
    if not has_history(conn, after_seq, mark):
        raise _AnewError
    texts: list[tuple[int, str]] = []
    last_seq: int | None = None
    gone_seq = 0
    total = 0
    rows = conn.execute(
        f"SELECT c.seq, n.rowid, {as_bytes('n.content')} FROM td_change c"
        " LEFT JOIN nodes n ON n.id = c.node_id WHERE c.seq > ? ORDER BY c.seq LIMIT ?",
        (after_seq, _PAGE_ROWS),
    )
    for seq, n, content in rows:
        last_seq = int(seq)
        if n is None:
            gone_seq = int(seq)
            continue
        texts.append((int(n), text_of(content)))
        total += len(texts[-1][1])
        if total > _PAGE_BYTES:
            break
    return None if last_seq is None else _Page(tuple(texts), last_seq, history_mark(conn), gone_seq)
