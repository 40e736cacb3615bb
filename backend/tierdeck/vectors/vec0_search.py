"""vec0 itself asked: the nearest of all vectors, one by one compared, and the vectors of given memories."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.index.file import VECTORS

MAX_NEAREST = 4096  # vec0's limit of k

_NEAREST = f"SELECT node_id FROM {VECTORS} WHERE embedding MATCH ? AND k = ?"
_NEAREST_ALLOWED = f"{_NEAREST} AND node_id IN (SELECT value FROM json_each(?))"
_VECTOR = f"SELECT embedding FROM {VECTORS} WHERE node_id = ?"


def nearest_by_vec0(
    conn: apsw.Connection, query: NDArray[np.float32], k: int, allowed_ids: Collection[str] | None = None
) -> list[tuple[str, float]]:
    """The memories whose vectors are nearest to the query's.

    Args:
        query: at unit length.
        k: how many at most, up to `MAX_NEAREST`.
        allowed_ids: when given, only these are looked at (before the cut; it doubles the time).

    Returns:
        (id, cosine) best first, equal ones by id. The cosine is computed from the vectors themselves.
    """
    params: tuple[bytes, int] | tuple[bytes, int, str] = (query.tobytes(), k)
    sql = _NEAREST
    if allowed_ids is not None:
        sql, params = _NEAREST_ALLOWED, (*params, json.dumps(list(allowed_ids)))
    vectors = vectors_by_vec0(conn, [str(row[0]) for row in conn.execute(sql, params)])
    scored = [(node_id, float(vector @ query)) for node_id, vector in vectors.items()]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def vectors_by_vec0(conn: apsw.Connection, ids: Iterable[str]) -> dict[str, NDArray[np.float32]]:
    """The vectors of those of the memories that have one (14 µs each)."""
    rows = ((node_id, conn.execute(_VECTOR, (node_id,)).fetchone()) for node_id in ids)
    return {node_id: np.frombuffer(row[0], np.float32) for node_id, row in rows if row is not None}
