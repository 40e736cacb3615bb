"""The sign bits of the current model's vectors written: in step with vec0's chunks, in the same transaction.

They begin when there are enough vectors to be worth it, are taken from a mean of their own, and are all made anew
when the store's mean has moved away from that one (3 s for a million).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.index.file import VECTORS
from tierdeck.index.schema import BIT_TABLES
from tierdeck.vectors.chunk_blobs import CHUNK_SLOTS, chunk_ids, packed, read_chunk, read_chunk_vectors, unpacked
from tierdeck.vectors.sign_bits import scales_of, sign_bits, words_of

# Fewer are compared one by one in about the same time.
MIN_BIT_VECTORS = 2_000
# Of unit vectors. A mean that is off by so much costs no recall that could be measured.
_MOVED = 0.05

Slot = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A row of `bit_chunk`, to be changed."""

    validity: NDArray[np.bool_]
    keys: NDArray[np.int64]
    scales: NDArray[np.float32]

    @classmethod
    def of(cls, validity: bytes, keys: bytes, scales: bytes) -> _Chunk:
        return cls(
            unpacked(validity).copy(),
            np.frombuffer(keys, np.int64).copy(),
            np.frombuffer(scales, np.float32).reshape(CHUNK_SLOTS, 2).copy(),
        )


class BitTable:
    """The bits of one model's vectors; every call runs inside the caller's transaction."""

    def __init__(self, conn: apsw.Connection, dimensions: int, mean: NDArray[np.float32], seq: int) -> None:
        self._conn = conn
        self._row_bytes = 8 * words_of(dimensions)
        self._mean = mean
        self._seq = seq + 1
        self._is_counted = False

    def write(self, slots: NDArray[np.int64], vectors: NDArray[np.float32], keys: Sequence[int]) -> None:
        """Write the bits of vectors that were put into slots, one vector a row.

        Args:
            slots: (chunk, offset) a row.
            keys: the store's rowid of each memory; 0 where it is not known.
        """
        row_keys = np.array(keys, np.int64)
        rows, scales = sign_bits(vectors, self._mean), scales_of(vectors, self._mean)
        order = np.lexsort((slots[:, 1], slots[:, 0]))
        for run in _runs(slots, order):
            chunk_id, first = (int(number) for number in slots[run[0]])
            chunk = self._chunk(chunk_id)
            with self._conn.blob_open("main", "bit_rows", "bits", chunk_id, True) as blob:
                blob.seek(first * self._row_bytes)
                blob.write(rows[run].tobytes())
            chunk.validity[first : first + len(run)] = True
            chunk.scales[first : first + len(run)] = scales[run]
            chunk.keys[first : first + len(run)] = row_keys[run]
            self._save(chunk_id, chunk)

    def clear(self, slot: Slot) -> None:
        """A vector was taken out of its slot, and perhaps vec0 its last chunk with it."""
        chunk_id, offset = slot
        if not self._conn.execute(f"SELECT 1 FROM {VECTORS}_chunks WHERE chunk_id = ?", (chunk_id,)).fetchone():
            for table in ("bit_chunk", "bit_rows"):
                self._conn.execute(f"DELETE FROM {table} WHERE chunk_id = ?", (chunk_id,))
            self._count()
            return
        chunk = self._chunk(chunk_id)
        chunk.validity[offset], chunk.keys[offset], chunk.scales[offset] = False, 0, 0
        with self._conn.blob_open("main", "bit_rows", "bits", chunk_id, True) as blob:
            blob.seek(offset * self._row_bytes)
            blob.write(bytes(self._row_bytes))  # they tell of a text that may have been purged
        self._save(chunk_id, chunk)

    def set_keys(self, keyed: Iterable[tuple[Slot, int]]) -> None:
        """Keep which row of the store each slot's memory is; what is known already is not written again."""
        for chunk_id, group in groupby(sorted(keyed), key=lambda one: one[0][0]):
            chunk = self._chunk(chunk_id)
            before = chunk.keys.copy()
            for (_, offset), key in group:
                chunk.keys[offset] = key
            if (chunk.keys != before).any():
                self._save(chunk_id, chunk)

    def moved_from(self, mean: NDArray[np.float64]) -> bool:
        """Whether the store's mean is so far from the bits' that they have to be made anew."""
        return float(np.linalg.norm(mean - self._mean)) > _MOVED

    def _chunk(self, chunk_id: int) -> _Chunk:
        """What is known of the chunk's slots, to be changed and saved; a new chunk's are empty."""
        row = self._conn.execute(
            "SELECT validity, keys, scales FROM bit_chunk WHERE chunk_id = ?", (chunk_id,)
        ).fetchone()
        if row is not None:
            return _Chunk.of(*row)
        self._conn.execute(
            "INSERT INTO bit_rows (chunk_id, bits) VALUES (?, zeroblob(?))",
            (chunk_id, CHUNK_SLOTS * self._row_bytes),
        )
        return _Chunk.of(bytes(CHUNK_SLOTS // 8), bytes(8 * CHUNK_SLOTS), bytes(8 * CHUNK_SLOTS))

    def _save(self, chunk_id: int, chunk: _Chunk) -> None:
        self._count()
        self._conn.execute(
            "INSERT OR REPLACE INTO bit_chunk (chunk_id, seq, validity, keys, scales) VALUES (?, ?, ?, ?, ?)",
            (chunk_id, self._seq, packed(chunk.validity), chunk.keys.tobytes(), chunk.scales.tobytes()),
        )

    def _count(self) -> None:
        if not self._is_counted:
            self._conn.execute("UPDATE bit_head SET seq = ?", (self._seq,))
            self._is_counted = True


def _runs(places: NDArray[np.int64], order: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The numbers of slots in their order, cut where one does not follow its neighbour in the same chunk."""
    chunks, offsets = places[order].T
    cuts = np.flatnonzero((np.diff(chunks) != 0) | (np.diff(offsets) != 1)) + 1
    return [run for run in np.split(order, cuts) if len(run)]


def open_bits(conn: apsw.Connection, model_name: str, dimensions: int) -> BitTable | None:
    """The bits of the current model, to be written inside the caller's transaction; None when there are none."""
    row = conn.execute(
        "SELECT mean, seq FROM bit_head WHERE model = ? AND dimensions = ?", (model_name, dimensions)
    ).fetchone()
    return None if row is None else BitTable(conn, dimensions, np.frombuffer(row[0], np.float32), int(row[1]))


def build_bits(conn: apsw.Connection, model_name: str, dimensions: int, mean: NDArray[np.float64]) -> None:
    """Make all bits anew from the vectors, inside the caller's transaction. What is known of the rows is kept.

    Args:
        mean: what the signs are taken from, (dimensions,).
    """
    narrow = mean.astype(np.float32)
    known = {
        int(chunk_id): bytes(keys)
        for chunk_id, keys in conn.execute("SELECT chunk_id, keys FROM bit_chunk")
        if isinstance(keys, bytes) and len(keys) == 8 * CHUNK_SLOTS
    }
    drop_bits(conn)
    build = int.from_bytes(os.urandom(8)) >> 2  # `secrets` would bring in what every first search waits for
    for chunk_id in chunk_ids(conn):
        chunk = read_chunk(conn, chunk_id)
        vectors = read_chunk_vectors(conn, chunk_id, dimensions)
        words, scales = sign_bits(vectors, narrow), scales_of(vectors, narrow)
        words[~chunk.validity], scales[~chunk.validity] = 0, 0
        keys = np.frombuffer(known.get(chunk_id, bytes(8 * CHUNK_SLOTS)), np.int64) * chunk.validity
        conn.execute(
            "INSERT INTO bit_chunk (chunk_id, seq, validity, keys, scales) VALUES (?, 0, ?, ?, ?)",
            (chunk_id, packed(chunk.validity), keys.tobytes(), scales.tobytes()),
        )
        conn.execute("INSERT INTO bit_rows (chunk_id, bits) VALUES (?, ?)", (chunk_id, words.tobytes()))
    conn.execute(
        "INSERT INTO bit_head (one, model, dimensions, mean, build, seq) VALUES (1, ?, ?, ?, ?, 0)",
        (model_name, dimensions, narrow.tobytes(), build),
    )


def drop_bits(conn: apsw.Connection) -> None:
    """Take all bits out, inside the caller's transaction: search goes on by vec0."""
    for table in BIT_TABLES:
        conn.execute(f"DELETE FROM {table}")
