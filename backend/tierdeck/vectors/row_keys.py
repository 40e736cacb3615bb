"""The store's rowid of each memory that has bits, so that a filter becomes a mask without a look-up each.

Only in a store of ours, where a rowid stays a memory's own and the change sequence says when one was given away. A
rowid that is not known costs time and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

import apsw
import numpy as np

from tierdeck import db
from tierdeck.index.file import VECTORS
from tierdeck.index.store_texts import has_changes
from tierdeck.store import Store
from tierdeck.vectors.chunk_blobs import unpacked
from tierdeck.vectors.model_record import Model, current_model, load_table

_CHUNKS_PER_TRANSACTION = 32
_IN_CHUNK = f"SELECT id FROM {VECTORS}_rowids WHERE rowid IN (SELECT value FROM json_each(?))"


def row_keys(store: Store, ids: Sequence[str]) -> dict[str, int]:
    """The rowids of those of the memories that are there; none at all where they can't be relied on."""
    if not has_changes(store):
        return {}
    sql = "SELECT n.id, n.rowid FROM nodes n WHERE n.id IN (SELECT value FROM json_each(?)) AND n.rowid > 0"
    rows = store.read(
        lambda conn: cast("list[tuple[str, int]]", conn.execute(sql, (json.dumps(list(ids)),)).fetchall())
    )
    return dict(rows)


def keep_keys(conn: apsw.Connection, store: Store, model: Model, *, every: bool) -> None:
    """Look up the rowids that are not known yet, or all of them, in a few transactions.

    Read inside a transaction of the index file: whoever changes a memory after that has its change looked at by an
    indexer after this one.
    """
    if not has_changes(store):
        return
    rows = conn.execute("SELECT chunk_id, validity, keys FROM bit_chunk").fetchall()
    chunks = [
        chunk_id
        for chunk_id, validity, keys in cast("list[tuple[int, bytes, bytes]]", rows)
        if every or (unpacked(validity) & (np.frombuffer(keys, np.int64) == 0)).any()
    ]
    for first in range(0, len(chunks), _CHUNKS_PER_TRANSACTION):
        with db.transaction(conn):
            if current_model(conn) != model:
                return
            table = load_table(conn, model)
            for chunk_id in chunks[first : first + _CHUNKS_PER_TRANSACTION]:
                table.keep_keys(row_keys(store, _ids_in(conn, chunk_id)))


def _ids_in(conn: apsw.Connection, chunk_id: int) -> list[str]:
    row = conn.execute(f"SELECT rowids FROM {VECTORS}_chunks WHERE chunk_id = ?", (chunk_id,)).fetchone()
    numbers = [] if row is None else np.frombuffer(row[0], np.int64).tolist()
    return [str(row[0]) for row in conn.execute(_IN_CHUNK, (json.dumps(numbers),))]
