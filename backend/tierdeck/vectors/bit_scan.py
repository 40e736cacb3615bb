"""One query's way through the bits: candidates by differing signs, then their exact cosines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.index.file import VECTORS, index_errors
from tierdeck.vectors.bit_memory import BitMemory
from tierdeck.vectors.chunk_blobs import read_slots
from tierdeck.vectors.sign_bits import best_slots

_MIN_CANDIDATES = 1_000
_ROWS_PER_CANDIDATE = 500
_FULL_DIMENSIONS = 1_536
_CANDIDATES_PER_ROW = 12
_NUMBER = f"SELECT rowid FROM {VECTORS}_rowids WHERE id = ?"
# A join from the left keeps the order of the list; one statement a number takes three times as long.
_IDS = f"SELECT r.id FROM json_each(?) j LEFT JOIN {VECTORS}_rowids r ON r.rowid = j.value ORDER BY j.key"


@dataclass(frozen=True, slots=True)
class Near:
    """Vectors by their exact cosine, nearest first: vec0's number of each."""

    numbers: NDArray[np.int64]
    cosines: NDArray[np.float32]


class BitScan:
    """The vectors by how near they are to one query; to be used inside the snapshot that it was made in.

    Slots are numbered through all chunks. `seen` is how far the index knows the store's changes (number, memory).
    """

    def __init__(
        self,
        conn: apsw.Connection,
        path: Path,
        memory: BitMemory,
        query: NDArray[np.float32],
        seen: tuple[int, str | None],
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self._conn = conn
        self._path = path
        self._memory = memory
        self._query = query
        self.seen = seen
        self._scores = memory.scores(query, should_stop)

    @property
    def slots_count(self) -> int:
        """How many slots there are, empty ones too."""
        return len(self._scores)

    def candidates(self, rows: int, allowed: NDArray[np.bool_] | None = None) -> NDArray[np.intp]:
        """The slots whose vectors are nearest by their signs, in slot order.

        Args:
            rows: how many at least, where there are so many; those as near as the last come too.
            allowed: of each slot, whether it may be one.
        """
        scores = self._scores if allowed is None else np.where(allowed, self._scores, np.float32(-np.inf))
        return best_slots(scores, rows)

    def exact(self, slots: NDArray[np.intp]) -> Near:
        """The vectors in those slots, given in order, by their exact cosine."""
        chunks, offsets, numbers = self._memory.placed(slots)
        with index_errors(self._path):
            vectors = read_slots(self._conn, chunks, offsets, len(self._query))
        # Not `@`: the linear algebra library would wake its threads, which then spin for longer than this takes.
        cosines = np.vecdot(vectors, self._query)
        order = np.argsort(-cosines, kind="stable")
        return Near(numbers[order], cosines[order])

    def keys(self, slots: NDArray[np.intp] | None = None) -> NDArray[np.int64]:
        """The store's rowid of the memory in each slot, or in those given in order; 0 where it is not known."""
        return self._memory.keys(slots)

    def numbers(self, slots: NDArray[np.intp] | None = None) -> NDArray[np.int64]:
        """vec0's number of the vector in each slot, or in those given in order."""
        return self._memory.numbers(slots)

    def ids(self, numbers: NDArray[np.int64]) -> list[str]:
        """The memories' ids, by vec0's numbers."""
        with index_errors(self._path):
            return [str(row[0]) for row in self._conn.execute(_IDS, (json.dumps(numbers.tolist()),))]

    def numbers_of(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """vec0's numbers of those of the memories that have a vector, in no order."""
        wanted = list(ids)
        with index_errors(self._path):
            found = [self._conn.execute(_NUMBER, (node_id,)).get for node_id in wanted]
        return np.array([number for number in found if number is not None], np.int64)

    def enough_for(self, rows: int) -> int:
        """How many candidates have to be compared exactly for the nearest `rows` to be among them."""
        return candidate_rows(rows, self.slots_count, len(self._query))


def candidate_rows(rows: int, slots: int, dimensions: int) -> int:
    """How many candidates are compared exactly, so that the nearest `rows` are among them.

    Of 1,536 dimensions 1,000 of 100,000 vectors hold 0.997 of the nearest 50 and 600 hold 0.987 (30 questions of
    the benchmark's store); 2,000 of 1,000,000 hold 0.992 of the nearest 10 and of the nearest 50, 1,000 hold 0.988
    of the latter. Of 256 dimensions 4,000 of 100,000 hold 0.991 of the nearest 50, 500 only 0.908.
    """
    least = max(_MIN_CANDIDATES, slots // _ROWS_PER_CANDIDATE, _CANDIDATES_PER_ROW * rows)
    shorter = -(-7 * _FULL_DIMENSIONS // (10 * dimensions))
    return least * max(1, shorter)
