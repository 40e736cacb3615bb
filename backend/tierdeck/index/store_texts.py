"""The store's texts as the index sees them: which changed, page by page, in short reads.

A text is read as bytes and decoded as the rest of the program does, so that its hash is the same everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import apsw

from tierdeck.index.history_mark import has_history, history_mark
from tierdeck.migrate import StoreKind
from tierdeck.model import Tier, content_hash
from tierdeck.store import Store
from tierdeck.store.change_numbers import newest_number
from tierdeck.store.rows import as_bytes, text_of

_PAGE_ROWS = 512
_PAGE_BYTES = 4_000_000
_TEXT = f"{as_bytes('n.content')}, n.tier = '{Tier.ARCHIVE}'"
_IS_OFF = "EXISTS (SELECT 1 FROM td_no_embedding o WHERE o.node_id = n.id)"


@dataclass(frozen=True, slots=True)
class TextState:
    """One memory's text now: its hash, its bytes, whether it is archived, and whether it may be embedded.

    `row_key` is its rowid; 0 where it was not asked for.
    """

    node_id: str
    content_hash: str
    text_bytes: int
    is_archived: bool
    is_off: bool
    is_blank: bool
    row_key: int = 0


class OtherHistoryError(Exception):
    """The store is no longer the one whose changes were followed: a backup was put in its place meanwhile."""


@dataclass(frozen=True, slots=True)
class TextPage:
    """Texts of one short read. `gone_ids` were deleted.

    Of what changed, `seen_seq` is the last change in it, and `seen_mark` what to remember of the store's history.
    Of a look through everything, `id_range` says which ids the page speaks for: greater than the first (None: from
    the start), up to the second (None: to the end); a memory in it that the page lacks is gone.
    """

    texts: tuple[TextState, ...]
    gone_ids: tuple[str, ...] = ()
    seen_seq: int = 0
    seen_mark: str | None = None
    id_range: tuple[str | None, str | None] | None = None


def has_changes(store: Store) -> bool:
    """Whether the store keeps a sequence of its changes; only those made by us do."""
    return store.kind is StoreKind.OWN and store.has_table("td_change")


def last_change(store: Store) -> tuple[int, str]:
    """The newest change's number, 0 in a store without any, and what to remember of the store's history."""
    return store.read(lambda conn: (newest_number(conn), history_mark(conn)))


def is_same_history(store: Store, seq: int, mark: str | None) -> bool:
    """Whether the changes we saw are still part of the store's; not so after a restored backup."""
    return store.read(partial(has_history, seen_seq=seq, mark=mark))


def history_after(store: Store, seq: int, mark: str) -> str | None:
    """What to remember of the store's history now, when it went on from that mark; None when it went another way.

    For whoever read more than the mark tells of: texts as they are now, of changes after `seq`.
    """
    return store.read(lambda conn: history_mark(conn) if has_history(conn, seq, mark) else None)


def changed_texts(store: Store, after_seq: int, mark: str | None) -> Iterator[TextPage]:
    """The texts that changed after a number of the change sequence, in its order.

    Raises:
        OtherHistoryError: the store does not have the history of that mark, or has it no more; the pages before
            hold for the history that it had.
    """
    seen: tuple[int, str | None] = (after_seq, mark)
    while page := store.read(partial(_changes_page, seen=seen)):
        seen = (page.seen_seq, page.seen_mark)
        yield page


def all_texts(store: Store) -> Iterator[TextPage]:
    """Every text, in the order of ids; the last page speaks for the rest of all ids."""
    has_off = store.has_table("td_no_embedding")
    after: bytes | None = None
    first: str | None = None
    while True:
        texts, after = store.read(partial(_ids_page, after=after, has_off=has_off))
        end = texts[-1].node_id if after is not None and texts else None
        if after is None or end is not None:
            yield TextPage(texts, id_range=(first, end))
            first = end
        if after is None:
            return


def read_texts(store: Store, ids: Sequence[str]) -> dict[str, str]:
    """The texts of those memories that exist."""
    rows = store.read(
        lambda conn: conn.execute(
            f"SELECT n.id, {as_bytes('n.content')} FROM nodes n WHERE n.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        ).fetchall()
    )
    return {str(node_id): text_of(content) for node_id, content in rows}


def _changes_page(conn: apsw.Connection, seen: tuple[int, str | None]) -> TextPage | None:
    if not has_history(conn, *seen):
        raise OtherHistoryError
    texts: list[TextState] = []
    gone: list[str] = []
    last_seq: int | None = None
    rows = conn.execute(
        f"SELECT c.seq, CAST(c.node_id AS BLOB), n.id IS NULL, {_IS_OFF}, {_TEXT}, n.rowid FROM td_change c"
        " LEFT JOIN nodes n ON n.id = c.node_id WHERE c.seq > ? ORDER BY c.seq LIMIT ?",
        (seen[0], _PAGE_ROWS),
    )
    total = 0
    for seq, raw_id, is_gone, is_off, content, is_archived, row_key in rows:
        node_id = text_of(raw_id)
        last_seq = int(seq)
        if is_gone:
            gone.append(node_id)
        elif node_id.encode() == raw_id:  # else an id that no look-up can name; `doctor` lists it
            texts.append(replace(_state(node_id, content, is_archived, is_off), row_key=max(0, int(row_key))))
            total += texts[-1].text_bytes
        if total > _PAGE_BYTES:
            break
    return None if last_seq is None else TextPage(tuple(texts), tuple(gone), last_seq, history_mark(conn))


def _ids_page(
    conn: apsw.Connection, after: bytes | None, *, has_off: bool
) -> tuple[tuple[TextState, ...], bytes | None]:
    """The next texts by id, and the last id read, None when there are no more."""
    texts: list[TextState] = []
    total, rows_read, last = 0, 0, b""
    rows = conn.execute(
        f"SELECT CAST(n.id AS BLOB), {_IS_OFF if has_off else '0'}, {_TEXT} FROM nodes n"
        " WHERE typeof(n.id) = 'text' AND (?1 IS NULL OR n.id > CAST(?1 AS TEXT)) ORDER BY n.id LIMIT ?2",
        (after, _PAGE_ROWS),
    )
    for raw_id, is_off, content, is_archived in rows:
        rows_read, last, node_id = rows_read + 1, bytes(raw_id), text_of(raw_id)
        if node_id.encode() != last:
            continue  # an id that no look-up can name; `doctor` lists it
        texts.append(_state(node_id, content, is_archived, is_off))
        total += texts[-1].text_bytes
        if total > _PAGE_BYTES:
            return tuple(texts), last
    return tuple(texts), last if rows_read == _PAGE_ROWS else None


def _state(
    node_id: str, content: str | bytes | int | float | None, is_archived: object, is_off: object
) -> TextState:
    text = text_of(content)
    size = len(content) if isinstance(content, bytes) else len(text.encode())
    return TextState(node_id, content_hash(text), size, bool(is_archived), bool(is_off), not text.strip())
