"""The memories whose text is never to be embedded. Spec: SPEC-09.06"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from tierdeck.errors import NotFoundError
from tierdeck.store.store import Store


def set_compute_embedding(store: Store, ids: Sequence[str], *, enabled: bool) -> None:
    """Let memories be embedded, or keep them from it; a vector that exists already is the index's to drop.

    Raises:
        NotFoundError: an id does not exist; it is named.
        ReadOnlyStoreError, StoreBusyError: as for every write. Nothing was changed in each case.
    """
    with store.writing() as conn:
        for node_id in ids:
            if conn.execute("SELECT 1 FROM nodes WHERE id = ?", (node_id,)).fetchone() is None:
                raise NotFoundError(f"set embedding of {node_id[:80]}: there is no such memory in {store.path}")
            sql = "DELETE FROM td_no_embedding WHERE node_id = ?"
            if not enabled:
                sql = "INSERT OR IGNORE INTO td_no_embedding (node_id) VALUES (?)"
            conn.execute(sql, (node_id,))


def embedding_off(store: Store, ids: Collection[str] | None = None) -> frozenset[str]:
    """The memories that are kept from being embedded; none in a store without our tables.

    Args:
        ids: the memories asked about; None for all.
    """
    if not store.has_table("td_no_embedding"):
        return frozenset()
    sql = "SELECT node_id FROM td_no_embedding"
    params: tuple[str, ...] = ()
    if ids is not None:
        sql, params = f"{sql} WHERE node_id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    rows = store.read(lambda conn: conn.execute(sql, params).fetchall())
    return frozenset(str(row[0]) for row in rows)
