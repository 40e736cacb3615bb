"""What the index file says of the store's texts: which one each vector was made from, and how far it knows them."""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw

from tierdeck.vectors.model_record import Model

_SEEN = "SELECT seen_seq, seen_node FROM index_model WHERE model = ? AND dimensions = ?"
_HELD = "SELECT vectors FROM index_model WHERE model = ? AND dimensions = ?"
_HASHES = (
    "SELECT node_id, content_hash FROM embedding_state WHERE node_id IN (SELECT value FROM json_each(?))"
    " AND model = ? AND dimensions = ? AND status = 'done'"
)
_UNFINISHED = "SELECT node_id FROM embedding_state WHERE model = ? AND dimensions = ? AND status <> 'done' LIMIT ?"
_MAX_UNFINISHED = 2_000  # 2 ms


def text_hashes(conn: apsw.Connection, model: Model, ids: Iterable[str]) -> dict[str, str]:
    """The `content_hash` of the text that each vector was made from; ids without a valid one are left out."""
    rows = conn.execute(_HASHES, (json.dumps(list(ids)), model.name, model.dimensions))
    return {str(node_id): str(text_hash) for node_id, text_hash in rows}


def unfinished(conn: apsw.Connection, model: Model) -> frozenset[str] | None:
    """The memories whose text has no vector of its own yet, or never will; None when they are many."""
    rows = conn.execute(_UNFINISHED, (model.name, model.dimensions, _MAX_UNFINISHED + 1)).fetchall()
    return frozenset(str(row[0]) for row in rows) if len(rows) <= _MAX_UNFINISHED else None


def vectors_held(conn: apsw.Connection, model: Model) -> int:
    """How many vectors there are, stale ones too, as it was counted when they were written."""
    row = conn.execute(_HELD, (model.name, model.dimensions)).fetchone()
    return 0 if row is None else int(row[0])


def seen_change(conn: apsw.Connection, model: Model) -> tuple[int, str | None]:
    """How far the index knows the store's changes: the last one's number, and its mark of the history."""
    row = conn.execute(_SEEN, (model.name, model.dimensions)).fetchone()
    return (0, None) if row is None else (int(row[0]), row[1])
