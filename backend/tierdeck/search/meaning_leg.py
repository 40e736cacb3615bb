"""The meaning side of a search: which memories are nearest to the query, and how near any memory is, exactly.

Imported only when there is a query vector: it brings in numpy. Spec: SPEC-09.04
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.search.condition import Condition, meeting
from tierdeck.search.hit import SemanticPart
from tierdeck.search.read_memories import ReadMemories
from tierdeck.search.scanned_pool import ScannedPool
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.vectors.vector_index import MAX_NEAREST, VectorIndex

Vector = NDArray[np.float64]
# So few that what is computed of them lies in memory that is at hand: of all candidates at once it would be taken
# from the system and given back, 1,000 pages a query.
_ROWS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class MeaningParts:
    """The meaning side of memories that have a valid vector, and the ids whose vector is of an older text."""

    parts: dict[str, SemanticPart]
    stale: frozenset[str]


class MeaningLeg:
    """The meaning side of one query: `pool` first, then `parts` of whatever is a candidate.

    `note`: a sentence for the operator when the pool could not be found the fast way.

    The index finds neighbours and gives vectors; which memories may show is the store's snapshot's to say.
    """

    def __init__(
        self, index: VectorIndex, query: NDArray[np.float32], should_stop: Callable[[], bool] | None = None
    ) -> None:
        self._index = index
        self._query = query
        self._should_stop = should_stop
        self.note: str | None = None

    def pool(
        self,
        conn: apsw.Connection,
        condition: Condition,
        limit_rows: int,
        store_rows: int,
        memories: ReadMemories | None = None,
    ) -> list[str]:
        """The ids of the nearest memories that meet the condition, nearest first; by the bits where there are some.

        Args:
            memories: where what is found is read, when more of it is wanted than the ids.

        Raises:
            StoppedError: `should_stop` said so.
        """
        with self._index.scanning(self._query, self._should_stop) as scan:
            if scan is not None:
                return ScannedPool(conn, condition, scan, self._index, memories).best(limit_rows)
            fault = self._index.bits_fault
        if fault is not None:
            self.note = (
                f"search by meaning took the slow way, its bits can't be used: {fault}; see `tierdeck doctor`"
            )
        return self._by_vec0(conn, condition, limit_rows, store_rows)

    def _by_vec0(self, conn: apsw.Connection, condition: Condition, limit_rows: int, store_rows: int) -> list[str]:
        """By vec0's own search, which compares with every vector.

        More are fetched, by the number of memories that the condition keeps out; only beyond the most that the
        index gives at once is it told which ids are allowed, which doubles its time.
        """
        allowed = int(conn.execute(f"SELECT count(*) FROM nodes n WHERE {condition.sql}", condition.params).get)
        if not allowed:
            return []
        fetch = min(limit_rows + store_rows - allowed, MAX_NEAREST)
        near = [node_id for node_id, _ in self._index.nearest(self._query, fetch)]
        allowed_ids = meeting(conn, condition, near)
        ids = [node_id for node_id in near if node_id in allowed_ids]
        if len(ids) < min(limit_rows, allowed) and len(near) == fetch:
            rows = conn.execute(f"SELECT {as_bytes('n.id')} FROM nodes n WHERE {condition.sql}", condition.params)
            found = self._index.nearest(self._query, limit_rows, [text_of(row[0]) for row in rows])
            ids = [node_id for node_id, _ in found]
        return ids[:limit_rows]

    def parts(self, ids: Collection[str], hashes: Mapping[str, str]) -> MeaningParts:
        """The exact similarity of each of the memories that has a vector made from its text of now.

        Args:
            hashes: `content_hash` of each memory's text in this snapshot.
        """
        vectors, stale = self._index.valid_vectors({node_id: hashes.get(node_id, "") for node_id in ids})
        query, mean = self._query.astype(np.float64), self._index.mean
        parts: dict[str, SemanticPart] = {}
        found = list(vectors)
        for first in range(0, len(found), _ROWS_AT_ONCE):
            some = found[first : first + _ROWS_AT_ONCE]
            matrix = np.array([vectors[node_id] for node_id in some], np.float64)
            centred = centred_cosines(query, matrix, mean).tolist()
            # Not `@`: the linear algebra library would wake its threads, which spin for longer than this takes.
            cosines = np.vecdot(matrix, query).tolist()
            for node_id, raw, near in zip(some, cosines, centred, strict=True):
                parts[node_id] = SemanticPart(min(1.0, max(0.0, near)), raw, near, rank=None)
        return MeaningParts(parts, stale)


def centred_cosines(query: Vector, vectors: Vector, mean: Vector) -> Vector:
    """The cosines of q - m and d - m: 0 is no more alike than two random memories, 1 is the same text.

    Indifferent to the band in which a model's cosines lie: on models whose cosines crowd between 0.7 and 0.9 the
    plain cosine loses to it.
    """
    q, d = query - mean, vectors - mean
    lengths = np.linalg.norm(d, axis=1) * np.linalg.norm(q)
    near: Vector = np.divide(np.vecdot(d, q), lengths, out=np.zeros(len(d)), where=lengths > 1e-12)
    return near
