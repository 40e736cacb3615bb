"""What a search can't do without, each measured alone beside it: a bound that is not reached shows by it why.

The leg goes through half of the signs and reads some 200 vectors, which lie in as many places of the index file. A
whole search asks the full-text index besides, and reads and scores what it finds.
"""

from __future__ import annotations

import time
from contextlib import closing
from copy import copy

import apsw
import numpy as np

from tests.bench.scale_store import ScaleStore
from tests.bench.turns import Contestant, in_a_row
from tierdeck import db
from tierdeck.index.path import beside_index_path
from tierdeck.vectors.chunk_blobs import CHUNK_SLOTS, chunk_ids, read_slots
from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.sign_bits import differing_bits, words_of

# So many the leg reads of 100,000 for the nearest 50: the median of 100 questions is 186, the mean 249.
READ_VECTORS = 200


class LegLimits:
    """`signs` and `reads` take turns with the leg; what a page costs that is touched first is taken once.

    `reads` goes over plain vec0's connection, whose search has touched every page before.
    """

    def __init__(self, made: ScaleStore, plain: apsw.Connection) -> None:
        rng = np.random.default_rng(3)
        self._rows = made.rows
        self._words = rng.integers(0, 1 << 63, (-(-words_of(made.dimensions) // 2), made.rows), np.uint64)
        self._query = self._words[:, 0].copy()
        self._differing, self._buffers = np.empty(made.rows, np.uint16), ScanBuffers()
        self._draw = np.random.default_rng(4)
        self._out = np.empty((READ_VECTORS, made.dimensions), np.float32)
        self._chunks = np.array(chunk_ids(plain), np.int64)
        self.first_read_us = self._first_read_us(made)
        self.signs = Contestant("  half of the signs alone", lambda _: self._go_through())
        self.reads = Contestant(f"  {READ_VECTORS} vectors read alone", lambda _: self._read(plain))

    def in_a_row(self) -> LegLimits:
        """The same as contestants of `in_rows`."""
        again = copy(self)
        again.signs, again.reads = in_a_row(self.signs), in_a_row(self.reads)
        return again

    def cpu_ms(self, faults: float) -> float:
        """What both take together, and the first touch of so many pages."""
        touched_ms = faults * (self.first_read_us / 1e3 - self.reads.median_cpu_ms / READ_VECTORS)
        return self.signs.median_cpu_ms + self.reads.median_cpu_ms + max(0.0, touched_ms)

    def _go_through(self) -> list[int]:
        differing_bits(self._words, self._query, self._buffers, self._differing)
        return []

    def _read(self, conn: apsw.Connection) -> list[int]:
        slots = np.sort(self._draw.choice(self._rows, READ_VECTORS, replace=False))
        read_slots(conn, self._chunks[slots // CHUNK_SLOTS], slots % CHUNK_SLOTS, self._out)
        return []

    def _first_read_us(self, made: ScaleStore) -> float:
        """What reading a vector costs over a new connection, where nearly every page is touched first."""
        with closing(db.open_index(beside_index_path(made.path), is_writing=False)) as conn:
            chunk_ids(conn)
            began = time.thread_time()
            self._read(conn)
            return 1e6 * (time.thread_time() - began) / READ_VECTORS
