"""One query's way through the bits: candidates by differing signs, then their exact cosines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.index.file import VECTORS
from tierdeck.vectors.bit_follower import Bits
from tierdeck.vectors.chunk_blobs import read_slots
from tierdeck.vectors.sign_bits import NEVER, nearest_slots, sign_bits

_MIN_CANDIDATES = 500
_ROWS_PER_CANDIDATE = 1_000
_FULL_DIMENSIONS = 1_536
_CANDIDATES_PER_ROW = 10
_ID = f"SELECT id FROM {VECTORS}_rowids WHERE rowid = ?"


@dataclass(frozen=True, slots=True)
class Near:
    """Vectors by their exact cosine, nearest first: vec0's number of each, the store's rowid (0: not known).

    `is_all` says that no other vector is left.
    """

    numbers: NDArray[np.int64]
    keys: NDArray[np.int64]
    cosines: NDArray[np.float32]
    is_all: bool


class BitScan:
    """The vectors by how near they are to one query; to be used inside the snapshot that it was made in."""

    def __init__(
        self,
        conn: apsw.Connection,
        bits: Bits,
        query: NDArray[np.float32],
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self._conn = conn
        self._memory = bits.memory
        self._query = query
        signs = sign_bits(query[None, :], bits.mean)[0]
        self._distances = bits.memory.distances(signs, should_stop)

    def nearest(self, rows: int, allowed: Callable[[NDArray[np.int64]], NDArray[np.bool_]] | None = None) -> Near:
        """The nearest vectors, at least `rows` of them where there are so many.

        Args:
            rows: how many are wanted; several times as many candidates are compared exactly.
            allowed: tells of the slots' keys which may be candidates.
        """
        distances = self._distances
        if allowed is not None:
            distances = np.where(allowed(self._memory.keys()), distances, NEVER)
        wanted = candidate_rows(rows, len(distances), len(self._query))
        slots = nearest_slots(distances, wanted)
        chunks, offsets, numbers = self._memory.placed(slots)
        # Not `@`: the linear algebra library would wake its threads, which then spin for longer than this takes.
        cosines = np.vecdot(read_slots(self._conn, chunks, offsets, len(self._query)), self._query)
        order = np.argsort(-cosines, kind="stable")
        keys = self._memory.keys_at(slots)
        return Near(numbers[order], keys[order], cosines[order], is_all=len(slots) < wanted)

    def ids(self, numbers: NDArray[np.int64]) -> list[str]:
        """The memories' ids, by vec0's numbers."""
        return [str(self._conn.execute(_ID, (number,)).get) for number in numbers.tolist()]


def candidate_rows(rows: int, slots: int, dimensions: int) -> int:
    """How many candidates are compared exactly, so that the nearest `rows` are among them.

    Measured at 100,000 and a million vectors: 500 of 1,536 dimensions give 0.999 of the nearest 50, of 256
    dimensions four times as many are needed.
    """
    least = max(_MIN_CANDIDATES, slots // _ROWS_PER_CANDIDATE, _CANDIDATES_PER_ROW * rows)
    return least * max(1, -(-_FULL_DIMENSIONS // max(1, dimensions)))
