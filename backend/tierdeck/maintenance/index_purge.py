"""Purged memories taken out of the index file: vectors zeroed, state and words gone, its log emptied."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing

import apsw

from tierdeck import db
from tierdeck.errors import TierdeckError
from tierdeck.index.file import index_errors, open_for_writing
from tierdeck.index.path import cached_index_path, index_path
from tierdeck.maintenance.index_move import remove_index
from tierdeck.store import Store
from tierdeck.terms.term_table import empty_terms
from tierdeck.terms.vocabulary import empty_vocabulary


def purge_index(store: Store, ids: Sequence[str]) -> tuple[int, list[str]]:
    """Remove memories' vectors from the store's index file, and the copy of the index in the cache if there is one.

    All extra terms and words of the store go with them, since nothing there tells whose they are; the next run of
    the indexer makes them anew.

    Returns:
        How many vectors were removed, and what could not be done, in sentences.
    """
    path = index_path(store)
    cached = cached_index_path(store.path)
    if cached != path:
        remove_index(cached)
    if not path.exists():
        return 0, []
    try:
        return _remove(store, ids)
    except TierdeckError as e:
        return 0, [
            f"vectors and words may still stand in {path}: {e.message}; `tierdeck embed --rebuild` makes it anew"
        ]


def _remove(store: Store, ids: Sequence[str]) -> tuple[int, list[str]]:
    # Here, not above: the command line must not pay for numpy when there is no index.
    from tierdeck.embed.catch_up import remove_nodes
    from tierdeck.vectors.bit_check import bit_fault, rebuild_bits
    from tierdeck.vectors.model_record import current_model

    path = index_path(store)
    with closing(open_for_writing(store)) as conn, index_errors(path):
        conn.pragma("secure_delete", True)
        with conn:
            count = _count_vectors(conn, ids)
            model = current_model(conn)
            if model is not None and bit_fault(conn, model, chunks=0) is not None:
                rebuild_bits(conn, model)  # what is out of step could not be taken out
            remove_nodes(conn, ids)  # vec0 0.1.9 writes zeros over a deleted vector
            empty_terms(conn)
            empty_vocabulary(conn)
        is_emptied = db.empty_wal(conn)
    return count, [] if is_emptied else [
        f"{path.name}-wal may still hold vectors and words while another program reads"
    ]


def _count_vectors(conn: apsw.Connection, ids: Sequence[str]) -> int:
    sql = (
        "SELECT count(*) FROM embedding_state WHERE seq IS NOT NULL AND node_id IN (SELECT value FROM json_each(?))"
    )
    return int(conn.execute(sql, (json.dumps(list(ids)),)).get)
