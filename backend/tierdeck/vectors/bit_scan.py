"""One query's way through the bits: candidates by differing signs, closer by the query's numbers, then exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.errors import StoppedError
from tierdeck.index.file import VECTORS, index_errors
from tierdeck.vectors.bit_memory import BitMemory
from tierdeck.vectors.bits import Bits
from tierdeck.vectors.chunk_blobs import read_slots
from tierdeck.vectors.nearest_first import NearestFirst
from tierdeck.vectors.query_planes import QueryPlanes
from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.sign_bits import best_slots

_MIN_CANDIDATES = 1_000
_ROWS_PER_CANDIDATE = 500
_FULL_DIMENSIONS = 1_536
_CANDIDATES_PER_ROW = 12
# So many times the candidates are picked by all signs, and so many times the candidates by half of them, where only
# half are gone through. In the end 0.995 of the nearest 50 of 100,000 are found; by 7 times as many 0.992.
_BY_SIGNS = 1.5
_BY_HALF = 10
# Looked for as if so many were wanted: one that is missed weighs more among few.
_SURE = 50
# As many as lie in the processor's cache.
_ROWS_AT_ONCE = 64
_NUMBER = f"SELECT rowid FROM {VECTORS}_rowids WHERE id = ?"
# A join from the left keeps the order of the list; one statement a number takes three times as long.
_IDS = f"SELECT r.id FROM json_each(?) j LEFT JOIN {VECTORS}_rowids r ON r.rowid = j.value ORDER BY j.key"
Slots = NDArray[np.intp]


class BitScan:
    """The vectors by how near they are to one query; to be used inside the snapshot that it was made in.

    Slots are numbered through all chunks. `seen` is how far the index knows the store's changes (number, mark).
    """

    def __init__(
        self,
        conn: apsw.Connection,
        path: Path,
        bits: Bits,
        query: NDArray[np.float32],
        mean: NDArray[np.float32],
        seen: tuple[int, str | None],
        buffers: ScanBuffers,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """
        Args:
            mean: the store's mean vector, which `mean_products` are with; the signs are taken from another.
        """
        self._conn = conn
        self._path = path
        self._bits = bits
        self._query = query
        self._mean = mean
        self._mean_products: dict[int, float] = {}
        self._planes = QueryPlanes(query, bits.mean)
        self._buffers = buffers
        self._should_stop = should_stop
        self._has_scores = False
        self.seen = seen
        self._ask_to_stop()

    @property
    def slots_count(self) -> int:
        """How many slots there are, empty ones too."""
        return self._bits.slots_count

    @property
    def state(self) -> object:
        """The same object for as long as no slot holds another vector."""
        return self._bits.state

    def candidates(
        self,
        rows: int,
        allowed: Slots | None = None,
        may_show: Callable[[Slots], NDArray[np.bool_]] | None = None,
    ) -> NearestFirst:
        """The `rows` vectors that are likely to be the nearest; fewer only when there are no more.

        Args:
            allowed: the slots, in order, that may be among them; all when it is None.
            may_show: of slots in order, which may be given; asked of those that are compared exactly.
        """
        slots = self._picked(rows, allowed)
        estimates = self._bits.cosines(slots, self._planes, self._buffers)
        order = np.argsort(-estimates, kind="stable")
        order = order[: np.count_nonzero(estimates > -np.inf)]  # no empty slot
        if len(order) > rows:  # those as near as the last come too
            order = order[: np.count_nonzero(estimates >= estimates[order[rows - 1]])]
        # Vectors of unit length are about 1 from the mean, in the mean a little less.
        return NearestFirst(slots[order], estimates[order], self._planes.error, self._exact, may_show)

    def nearest(self, k: int) -> list[tuple[str, float]]:
        """The k nearest, id and cosine; of those as near as the last, the first by id."""
        nearest = self.candidates(self.enough_for(k))
        found: list[tuple[str, float]] = []
        while True:
            slots, cosines = nearest.next(k, max(k, _SURE))
            found += zip(self.ids(slots), cosines.tolist(), strict=True)
            if len(slots) < k or cosines[-1] < found[k - 1][1]:
                return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]

    def _picked(self, rows: int, allowed: Slots | None) -> Slots:
        """Slots by their signs, in order, out of the allowed: enough for so many candidates."""
        by_signs = int(_BY_SIGNS * rows)
        if allowed is not None and len(allowed) <= by_signs:
            return allowed
        scores = self._buffers.room("scores", np.float32, self.slots_count)
        differing = self._buffers.room("differing", np.uint16, self.slots_count)
        if not self._has_scores:
            self._bits.scores(self._planes, self._buffers, differing, scores, self._should_stop)
            self._has_scores = True
        halved = self._bits if isinstance(self._bits, BitMemory) and self._bits.are_halved else None
        most = by_signs if halved is None else _BY_HALF * rows
        slots = best_slots(scores, most) if allowed is None else allowed[best_slots(scores[allowed], most)]
        if halved is None:
            return slots
        return slots[
            best_slots(halved.closer_scores(slots, differing[slots], self._planes, self._buffers), by_signs)
        ]

    def _exact(self, slots: Slots) -> NDArray[np.float32]:
        """The exact cosine of the vector in each slot, given in order."""
        chunks, offsets = self._bits.placed(slots)
        cosines = np.empty(len(slots), np.float32)
        for first in range(0, len(slots), _ROWS_AT_ONCE):
            self._ask_to_stop()
            part = slice(first, min(len(slots), first + _ROWS_AT_ONCE))
            vectors = self._buffers.room("vectors", np.float32, part.stop - first, len(self._query))
            with index_errors(self._path):
                read_slots(self._conn, chunks[part], offsets[part], vectors)
            # Not `@`: the linear algebra library would wake its threads, which spin for longer than this takes.
            np.vecdot(vectors, self._query, out=cosines[part])
            products = np.vecdot(vectors, self._mean).tolist()
            self._mean_products.update(zip(slots[part].tolist(), products, strict=True))
        return cosines

    def mean_products(self, slots: Iterable[int]) -> list[float]:
        """The products with the store's mean of vectors that were given with their cosines."""
        return [self._mean_products[slot] for slot in slots]

    def _ask_to_stop(self) -> None:
        if self._should_stop is not None and self._should_stop():
            raise StoppedError("search: stopped")

    def keys(self, slots: Slots | None = None) -> NDArray[np.int64]:
        """The store's rowid of the memory in each slot, or in those given; 0 where it is not known."""
        return self._bits.keys(slots)

    def numbers(self, slots: Slots | None = None) -> NDArray[np.int64]:
        """vec0's number of the vector in each slot, or in those given."""
        return self._bits.numbers(slots)

    def ids(self, slots: Slots) -> list[str]:
        """The ids of the memories whose vectors lie in those slots."""
        numbers = self._bits.numbers(slots)
        with index_errors(self._path):
            return [str(row[0]) for row in self._conn.execute(_IDS, (json.dumps(numbers.tolist()),))]

    def numbers_of(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """vec0's numbers of those of the memories that have a vector, in no order."""
        wanted = list(ids)
        with index_errors(self._path):
            found = [self._conn.execute(_NUMBER, (node_id,)).get for node_id in wanted]
        return np.array([number for number in found if number is not None], np.int64)

    def enough_for(self, rows: int) -> int:
        """How many candidates there have to be for the nearest `rows` to be among them."""
        return candidate_rows(rows, self.slots_count, len(self._query))


def candidate_rows(rows: int, slots: int, dimensions: int) -> int:
    """How many candidates there have to be, so that the nearest `rows` are among them; not all of them are read.

    By their estimates alone 300 of 100,000 vectors of 1,536 numbers hold 0.995 of the nearest 50, 600 hold 0.998
    (100 questions of the benchmark's store); those of a question that is like many texts lie the farthest down.
    """
    least = max(_MIN_CANDIDATES, slots // _ROWS_PER_CANDIDATE, _CANDIDATES_PER_ROW * rows)
    shorter = -(-7 * _FULL_DIMENSIONS // (10 * dimensions))
    return least * max(1, shorter)
