"""The meaning side of a search: which memories are nearest to the query, and how near any memory is, exactly.

Imported only when there is a query vector: it brings in numpy. Spec: SPEC-09.04
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.errors import IndexFileError
from tierdeck.search.answer.fusion import ranks
from tierdeck.search.answer.hit import Hit, SemanticPart
from tierdeck.search.meaning.scanned_pool import ScannedPool
from tierdeck.search.meaning.without_vector import WithoutVector, without_vector
from tierdeck.search.rows.changed_since import changed_since
from tierdeck.search.rows.condition import Condition, meeting
from tierdeck.search.rows.exclusion import Exclusion
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.vectors.vec0_search import MAX_NEAREST
from tierdeck.vectors.vector_index import VectorIndex

# So few that what is computed of them lies in memory that is at hand: of all candidates at once it would be taken
# from the system and given back, 500 pages a query.
_ROWS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class MeaningParts:
    """The meaning side of memories that have a valid vector, and the ids whose vector is of an older text."""

    parts: dict[str, SemanticPart]
    stale: frozenset[str]


class MeaningLeg:
    """The meaning side of one query: `pool` first, then `parts` of whatever is a candidate.

    `note`: a sentence for the operator when the pool could not be found the fast way.

    The index finds neighbours and gives vectors; which memories may show is the store's snapshot's to say. Made
    before that snapshot is taken: an index that was written since may know texts that are newer than it.
    """

    def __init__(
        self, index: VectorIndex, query: NDArray[np.float32], should_stop: Callable[[], bool] | None = None
    ) -> None:
        self._index = index
        self._query = query
        self._should_stop = should_stop
        self._compared: dict[str, tuple[float, float]] = {}
        self._made_in = index.state
        self._model = (index.model, index.dimensions)
        self._allowed_rows: int | None = None  # where the pool holds every vector that counts, how many could
        self.note: str | None = None

    def pool(
        self,
        conn: apsw.Connection,
        condition: Condition,
        limit_rows: int,
        store_rows: int,
        memories: ReadMemories | None = None,
        sure_rows: int | None = None,
        exclusion: Exclusion | None = None,
    ) -> list[str]:
        """The ids of the nearest memories that meet the condition, nearest first; by the bits where there are some.

        Args:
            memories, sure_rows, exclusion: see `ScannedPool`.

        Raises:
            StoppedError: `should_stop` said so.
            IndexFileError: the vectors are another model's by now.
        """
        with self._index.snapshot():
            self._check_model()
            with self._index.scanning(self._query, self._should_stop) as scan:
                if scan is not None:
                    found = ScannedPool(conn, condition, scan, self._index, memories, sure_rows, exclusion)
                    ids = found.best(limit_rows)
                    self._compared = found.compared
                    self._allowed_rows = found.allowed_rows if len(ids) < limit_rows else None
                    return ids
            fault = self._index.bits_fault
            if fault is not None:
                self.note = (
                    f"search by meaning took the slow way, its bits can't be used: {fault}; see `tierdeck doctor`"
                )
            return self._by_vec0(conn, condition, limit_rows, store_rows, exclusion)

    def _by_vec0(
        self,
        conn: apsw.Connection,
        condition: Condition,
        limit_rows: int,
        store_rows: int,
        exclusion: Exclusion | None,
    ) -> list[str]:
        """By vec0's own search, which compares with every vector.

        More are fetched, by the number of memories that the condition keeps out; only beyond the most that the
        index gives at once is it told which ids are allowed, which doubles its time.
        """
        allowed = int(conn.execute(f"SELECT count(*) FROM nodes n WHERE {condition.sql}", condition.params).get)
        self._allowed_rows = None
        if not allowed:
            return []
        kept = exclusion.without_glued if exclusion else list[str]
        fetch = min(limit_rows + store_rows - allowed, MAX_NEAREST)
        near = [node_id for node_id, _ in self._index.nearest(self._query, fetch)]
        allowed_ids = meeting(conn, condition, near)
        ids = kept([node_id for node_id in near if node_id in allowed_ids])
        if len(ids) < min(limit_rows, allowed) and len(near) == fetch:
            rows = conn.execute(f"SELECT {as_bytes('n.id')} FROM nodes n WHERE {condition.sql}", condition.params)
            found = self._index.nearest(self._query, limit_rows, [text_of(row[0]) for row in rows])
            ids = kept([node_id for node_id, _ in found])
        self._allowed_rows = allowed if len(ids) < limit_rows else None
        return ids[:limit_rows]

    def parts(
        self, conn: apsw.Connection, ids: Collection[str], hashes: Callable[[list[str]], Mapping[str, str]]
    ) -> MeaningParts:
        """The exact similarity of each of the memories that has a vector made from its text of now.

        Args:
            hashes: gives `content_hash` of memories' texts in this snapshot.

        Raises:
            IndexFileError: the vectors are another model's by now.
        """
        with self._index.snapshot():
            self._check_model()
            doubtful = self._doubtful(conn, ids)
            now = hashes(doubtful) if doubtful else {}
            sure = set(ids).difference(doubtful)
            # None is sure unless the index is as it was when the pool compared.
            compared = {key: self._compared[key] for key in sure & self._compared.keys()}
            hashes_now = {key: now.get(key, "") for key in doubtful}
            vectors, stale = self._index.valid_vectors(hashes_now, sure - compared.keys())
            mean = self._index.mean.astype(np.float32)
        compared |= self._products(vectors, mean)
        cosines, along = np.array(list(compared.values()), np.float64).reshape(-1, 2).T
        centred = dict(zip(compared, centred_cosines(cosines, along, self._query, mean).tolist(), strict=True))
        places = ranks(centred)
        parts = {
            node_id: SemanticPart(min(1.0, max(0.0, near)), compared[node_id][0], near, places[node_id])
            for node_id, near in centred.items()
        }
        return MeaningParts(parts, stale)

    def without_vector(
        self,
        conn: apsw.Connection,
        condition: Condition,
        hits: Collection[Hit],
        memories: ReadMemories,
        store_rows: int,
        *,
        has_exclusions: bool,
    ) -> WithoutVector:
        """How many memories that meet the condition have no vector of their text; after `pool` and `parts`.

        Args:
            hits: what the pool found, and perhaps more that meet the condition.
            has_exclusions: something is kept out that the condition does not tell of.
        """
        if self._allowed_rows is not None and not has_exclusions:
            return WithoutVector(max(0, self._allowed_rows - sum(hit.semantic is not None for hit in hits)))
        with self._index.snapshot():
            self._check_model()
            return without_vector(conn, condition, self._index, memories, store_rows)

    def _products(
        self, vectors: Mapping[str, NDArray[np.float32]], mean: NDArray[np.float32]
    ) -> dict[str, tuple[float, float]]:
        """Each vector's product with the query, and with the mean."""
        products: dict[str, tuple[float, float]] = {}
        ids = list(vectors)
        for first in range(0, len(ids), _ROWS_AT_ONCE):
            some = ids[first : first + _ROWS_AT_ONCE]
            matrix = np.array([vectors[node_id] for node_id in some])
            # Not `@`: the linear algebra library would wake its threads, which spin for longer than this takes.
            both = np.vecdot(matrix, self._query).tolist(), np.vecdot(matrix, mean).tolist()
            products |= dict(zip(some, zip(*both, strict=True), strict=True))
        return products

    def _check_model(self) -> None:
        """See whether the query's vector is still of the model that made the others."""
        if (self._index.model, self._index.dimensions) != self._model:
            raise IndexFileError(
                f"search by meaning: {self._index.model} made the vectors anew just now, the query's is of"
                f" {self._model[0]}",
                hint="search again",
            )

    def _doubtful(self, conn: apsw.Connection, ids: Collection[str]) -> list[str]:
        """Those whose vector may be of another text: they changed since the index looked, or are in its work."""
        if self._index.state != self._made_in:
            return list(ids)
        changed, unfinished = changed_since(conn, *self._index.seen_change()), self._index.unfinished()
        if changed is None or unfinished is None:
            return list(ids)
        return [node_id for node_id in ids if node_id in changed or node_id in unfinished]


def centred_cosines(
    cosines: NDArray[np.float64], along: NDArray[np.float64], query: NDArray[np.float32], mean: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The cosines of q - m and d - m: 0 is no more alike than two random memories, 1 is the same text.

    Indifferent to the band in which a model's cosines lie: on models whose cosines crowd between 0.7 and 0.9 the
    plain cosine loses to it.

    Args:
        cosines: of vectors at unit length, their products with the query.
        along: their products with the mean.
    """
    q, m = query.astype(np.float64), mean.astype(np.float64)
    of_query, of_mean = float(np.vecdot(q, m)), float(np.vecdot(m, m))
    lengths = np.sqrt(np.maximum(1 - 2 * along + of_mean, 0) * float(np.vecdot(q - m, q - m)))
    near: NDArray[np.float64] = np.divide(
        cosines - along - of_query + of_mean, lengths, out=np.zeros(len(cosines)), where=lengths > 1e-3
    )
    return near
