"""What the index must learn about the store: new, changed, vanished and turned-off memories, into the queue.

A store of ours says what changed by its change sequence; of any other every text's hash is compared. Two WAL files
never commit together, so nothing here trusts that the two files fit: a store that no longer has the history that
was seen (a restored backup) has everything compared, also when it was put there while its changes were read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import apsw

from tierdeck import db
from tierdeck.embed.hand_over import Leaving, hand_over
from tierdeck.embed.mend import mend
from tierdeck.embed.work_queue import NO_TEXT, OFF
from tierdeck.index.store_texts import (
    OtherHistoryError,
    TextPage,
    TextState,
    all_texts,
    changed_texts,
    has_changes,
    history_after,
    is_same_history,
    last_change,
)
from tierdeck.store import Store, embedding_off
from tierdeck.terms.fill import bring_up
from tierdeck.vectors.known_texts import seen_change
from tierdeck.vectors.model_record import Model, all_models, load_table, save_table
from tierdeck.vectors.row_keys import keep_keys

StateValues = tuple[str, str, bool, str | None, str, int, str]
# Ids and hashes are random, so that a transaction touches most pages of their indexes: few of them, not too long.
_TRANSACTION_ROWS = 2_048
_STATES = (
    "SELECT node_id, content_hash, status, error FROM embedding_state"
    " WHERE node_id IN (SELECT value FROM json_each(?)) AND model = ? AND dimensions = ?"
)
_INSERT = (
    "INSERT INTO embedding_state (content_hash, status, is_late, error, model, dimensions, node_id)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_UPDATE = (
    "UPDATE embedding_state SET content_hash = ?, status = ?, is_late = ?, error = ?, attempts = 0,"
    " claimed_by = NULL, claimed_until = NULL WHERE model = ? AND dimensions = ? AND node_id = ?"
)


@dataclass(frozen=True, slots=True)
class _State:
    """What the index knows of one memory: the hash of its text, what became of that, and why."""

    content_hash: str
    status: str
    error: str | None


def catch_up(conn: apsw.Connection, store: Store, model: Model, should_stop: Callable[[], bool]) -> bool:
    """Bring the queue of one model up to the store; False when it was stopped on the way, which loses nothing.

    The extra terms come first: they are made here, and every search is better for them.
    """
    if not bring_up(conn, store, should_stop):
        return False
    needs_all = mend(conn, model)
    while True:
        try:
            return _follow(conn, store, model, should_stop, needs_all=needs_all)
        except OtherHistoryError:
            needs_all = True


def _follow(
    conn: apsw.Connection, store: Store, model: Model, should_stop: Callable[[], bool], *, needs_all: bool
) -> bool:
    newest: tuple[int, str] | None = None
    pages: Iterable[TextPage] = all_texts(store)
    if has_changes(store):
        seen_seq, seen_mark = seen_change(conn, model)
        if not needs_all and seen_seq > 0 and is_same_history(store, seen_seq, seen_mark):
            pages = changed_texts(store, seen_seq, seen_mark)
        else:
            newest = last_change(store)  # before the look: what changes during it is looked at again
    left = iter(pages)
    is_over = False
    while not is_over:
        if should_stop():
            return False
        with db.transaction(conn):
            is_over = _apply_some(conn, model, left)
    keep_keys(conn, store, model, every=newest is not None)
    with db.transaction(conn):
        if newest is not None:
            _set_seen(conn, model, newest[0], history_after(store, *newest))
        _apply_off(conn, model, embedding_off(store))
    return True


def remember_history(conn: apsw.Connection, store: Store, model: Model) -> None:
    """Note the store's history as it is now, inside the caller's transaction, since texts of now were read.

    What was seen stays as it is. Without it, a store put back to where it was then would seem to be in step.
    """
    seq, mark = seen_change(conn, model)
    if mark is not None and has_changes(store):
        _set_seen(conn, model, seq, history_after(store, seq, mark))


def remove_nodes(conn: apsw.Connection, ids: Iterable[str]) -> None:
    """Take memories out of the index with all their vectors, inside the caller's transaction."""
    gone = list(ids)
    remove_vectors(conn, gone)
    conn.executemany("DELETE FROM embedding_state WHERE node_id = ?", [(node_id,) for node_id in gone])
    conn.executemany("DELETE FROM node_key WHERE id = ?", [(node_id,) for node_id in gone])


def remove_vectors(conn: apsw.Connection, ids: Iterable[str]) -> None:
    """Take memories' vectors out, of every model, and keep what else is known; inside the caller's transaction."""
    gone = list(ids)
    if not gone:
        return
    for model in all_models(conn):
        table = load_table(conn, model)
        for node_id in gone:
            table.remove(node_id)
        save_table(conn, model, table)
    conn.executemany("UPDATE embedding_state SET seq = NULL WHERE node_id = ?", [(node_id,) for node_id in gone])


def _apply_some(conn: apsw.Connection, model: Model, pages: Iterator[TextPage]) -> bool:
    """Put the next pages into the queue, inside the caller's transaction; whether there are no more.

    They are read inside it too. Two runs that read first and write later would write what they read in another
    order: the later one takes what the earlier has embedded out again, and it is paid for twice.
    """
    rows = 0
    for page in pages:
        _apply(conn, model, page)
        if page.id_range is None:
            _set_seen(conn, model, page.seen_seq, page.seen_mark)
        rows += len(page.texts)
        if rows >= _TRANSACTION_ROWS:
            return False
    return True


def _apply(conn: apsw.Connection, model: Model, page: TextPage) -> None:
    """Put a page's memories into the queue, unless the index knows these texts of them already."""
    gone = [*page.gone_ids, *(_vanished(conn, page) if page.id_range is not None else ())]
    key = (model.name, model.dimensions)
    known = _states(conn, model, [*(text.node_id for text in page.texts), *gone])
    leaving = [node_id for node_id in gone if node_id in known]
    new: list[StateValues] = []
    changed: list[StateValues] = []
    for text in page.texts:
        reason = OFF if text.is_off else NO_TEXT if text.is_blank else None
        status = "skipped" if reason else "pending"
        values = (text.content_hash, status, text.is_archived, reason, *key, text.node_id)
        if text.node_id not in known:
            new.append(values)
        elif _is_other(known[text.node_id], text, reason):
            changed.append(values)
            leaving.append(text.node_id)
    conn.executemany("INSERT OR IGNORE INTO node_key (id) VALUES (?)", [(values[-1],) for values in new])
    conn.executemany(_INSERT, new)
    conn.executemany(_UPDATE, changed)
    done = [(known[node_id], node_id) for node_id in leaving if known[node_id].status == "done"]
    hand_over(conn, model, {state.content_hash: Leaving(node_id, state.error) for state, node_id in done})
    load_table(conn, model).keep_keys({text.node_id: text.row_key for text in page.texts if text.row_key})
    remove_vectors(conn, [text.node_id for text in page.texts if text.is_off])
    remove_nodes(conn, gone)


def _states(conn: apsw.Connection, model: Model, ids: Sequence[str]) -> dict[str, _State]:
    """What the index knows of those memories that it knows."""
    rows = conn.execute(_STATES, (json.dumps(ids), model.name, model.dimensions))
    return {str(node_id): _State(str(text_hash), str(status), error) for node_id, text_hash, status, error in rows}


def _is_other(state: _State, text: TextState, reason: str | None) -> bool:
    """Whether what the index knows of a memory is of another text, or it is held back no longer, or from now on."""
    was_held_back = state.status == "skipped" and state.error in (OFF, NO_TEXT)
    return state.content_hash != text.content_hash or was_held_back != (reason is not None)


def _vanished(conn: apsw.Connection, page: TextPage) -> set[str]:
    first, last = page.id_range or (None, None)
    known = conn.execute(
        "SELECT id FROM node_key WHERE (?1 IS NULL OR id > ?1) AND (?2 IS NULL OR id <= ?2)", (first, last)
    )
    return {str(row[0]) for row in known} - {text.node_id for text in page.texts}


def _apply_off(conn: apsw.Connection, model: Model, off: frozenset[str]) -> None:
    """Follow the `compute_embedding` flag where it was turned without a change of the text."""
    key = (model.name, model.dimensions)
    turned_on = [
        str(row[0])
        for row in conn.execute(
            "SELECT node_id FROM embedding_state WHERE model = ? AND dimensions = ? AND status = 'skipped'"
            " AND error = ? AND node_id NOT IN (SELECT value FROM json_each(?))",
            (*key, OFF, json.dumps(sorted(off))),
        )
    ]
    turned_off = [
        str(row[0])
        for row in conn.execute(
            "SELECT node_id FROM embedding_state WHERE model = ? AND dimensions = ? AND error IS NOT ?"
            " AND node_id IN (SELECT value FROM json_each(?))",
            (*key, OFF, json.dumps(sorted(off))),
        )
    ]
    remove_vectors(conn, turned_off)
    for status, reason, ids in (("pending", None, turned_on), ("skipped", OFF, turned_off)):
        conn.executemany(
            "UPDATE embedding_state SET status = ?, error = ?, attempts = 0, claimed_by = NULL,"
            " claimed_until = NULL WHERE model = ? AND dimensions = ? AND node_id = ?",
            [(status, reason, *key, node_id) for node_id in ids],
        )


def _set_seen(conn: apsw.Connection, model: Model, seq: int, mark: str | None) -> None:
    conn.execute(
        "UPDATE index_model SET seen_seq = ?, seen_node = ? WHERE model = ? AND dimensions = ?",
        (seq, mark, model.name, model.dimensions),
    )
