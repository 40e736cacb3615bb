"""The sign bits straight from the index file, chunk by chunk through one buffer, in place of `BitMemory`.

For the first query of a process: of the bits of a million vectors, getting 216 MB from the system takes several
times as long as going through them, up to a second where the memory of a virtual machine is not at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.errors import StoppedError
from tierdeck.index.file import VECTORS
from tierdeck.vectors.chunk_blobs import CHUNK_SLOTS, chunk_ids, read_slots_of, unpacked
from tierdeck.vectors.query_planes import QueryPlanes
from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.sign_bits import Scales, Words, differing_bits, scores_by_signs, words_of

_CHUNKS_PER_ASKING = 64
_SLOTS_AT_ONCE = 2_048
_BITS, _SCALES = ("bit_rows", "bits"), ("bit_chunk", "scales")
_KEYS, _NUMBERS = ("bit_chunk", "keys"), (f"{VECTORS}_chunks", "rowids")
_CHUNKS = "SELECT chunk_id, scales FROM bit_chunk ORDER BY chunk_id"
Slots = NDArray[np.intp]
_N = TypeVar("_N", bound=np.generic)


class BitStream:
    """The bits of one model's vectors in one snapshot of a connection, which is used by one thread at a time.

    They fit vec0's chunks: see `chunk_fault`. All signs are gone through, not half of them, since all are read.
    """

    def __init__(self, conn: apsw.Connection, mean: NDArray[np.float32]) -> None:
        self._conn = conn
        self.mean = mean
        self._chunk_ids = np.array(chunk_ids(conn), np.int64)
        self.state = object()

    @property
    def slots_count(self) -> int:
        """How many slots there are, empty ones too."""
        return CHUNK_SLOTS * len(self._chunk_ids)

    def scores(
        self,
        query: QueryPlanes,
        buffers: ScanBuffers,
        differing: NDArray[np.uint16],
        out: NDArray[np.float32],
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """As `Bits.scores` gives them.

        Raises:
            StoppedError: `should_stop` said so.
        """
        for number, (words, scales) in enumerate(self._chunks(buffers)):
            if should_stop is not None and number % _CHUNKS_PER_ASKING == 0 and should_stop():
                raise StoppedError("search: stopped")
            part = slice(number * CHUNK_SLOTS, (number + 1) * CHUNK_SLOTS)
            differing_bits(words.T, query.signs, buffers, differing[part])
            scores_by_signs(differing[part], len(self.mean), scales.T, query.distance, out[part])
            out[part][~self._are_filled[part]] = -np.inf

    def cosines(self, slots: Slots, query: QueryPlanes, buffers: ScanBuffers) -> NDArray[np.float32]:
        """As `Bits.cosines` gives them."""
        found = np.empty(len(slots), np.float32)
        for first in range(0, len(slots), _SLOTS_AT_ONCE):
            some = slots[first : first + _SLOTS_AT_ONCE]
            words = np.ascontiguousarray(self._of(_BITS, some, np.uint64, words_of(len(self.mean))).T)
            scales = self._of(_SCALES, some, np.float32, 2).T
            found[first : first + len(some)] = query.cosines(words, scales, buffers)
        found[~self._are_filled[slots]] = -np.inf
        return found

    def last_slot(self) -> int | None:
        """The last slot that holds a vector; None when none does."""
        there = np.flatnonzero(self._are_filled)
        return int(there[-1]) if len(there) else None

    def bits_at(self, slot: int) -> Words:
        """The bits of one slot, (words,)."""
        bits: Words = self._of(_BITS, np.array([slot]), np.uint64, words_of(len(self.mean)))[0]
        return bits

    def keys(self, slots: Slots | None = None) -> NDArray[np.int64]:
        """The store's rowid of the memory in each slot, or in those given; 0 where it is not known."""
        return self._numbers(_KEYS, slots)

    def numbers(self, slots: Slots | None = None) -> NDArray[np.int64]:
        """vec0's number of the vector in each slot, or in those given."""
        return self._numbers(_NUMBERS, slots)

    def placed(self, slots: Slots) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each slot its chunk and its offset in it."""
        return self._chunk_ids[slots // CHUNK_SLOTS], slots.astype(np.int64) % CHUNK_SLOTS

    @cached_property
    def _are_filled(self) -> NDArray[np.bool_]:
        """Of each slot whether it holds a vector."""
        rows = self._conn.execute("SELECT validity FROM bit_chunk ORDER BY chunk_id")
        return unpacked(b"".join(row[0] for row in rows))

    def _chunks(self, buffers: ScanBuffers) -> Iterator[tuple[Words, Scales]]:
        """Of each chunk the bits and the scales; valid until the next is asked for."""
        words = buffers.room("chunk", np.uint64, CHUNK_SLOTS, words_of(len(self.mean)))
        for chunk_id, scales in self._conn.execute(_CHUNKS):
            with self._conn.blob_open("main", *_BITS, chunk_id, False) as blob:
                blob.read_into(words.data.cast("B"))
            yield words, np.frombuffer(scales, np.float32).reshape(CHUNK_SLOTS, 2)

    def _numbers(self, column: tuple[str, str], slots: Slots | None) -> NDArray[np.int64]:
        if slots is not None:
            order = np.argsort(slots)
            found = np.empty(len(slots), np.int64)
            found[order] = self._of(column, slots[order], np.int64, 1)[:, 0]
            return found
        table, name = column
        parts = [row[0] for row in self._conn.execute(f"SELECT {name} FROM {table} ORDER BY chunk_id")]
        return np.frombuffer(b"".join(parts), np.int64)

    def _of(self, column: tuple[str, str], slots: Slots, kind: type[_N], width: int) -> NDArray[_N]:
        """What the column has for each of the slots, (n, width)."""
        found = np.empty((len(slots), width), kind)
        read_slots_of(self._conn, column, *self.placed(slots), found)
        return found
