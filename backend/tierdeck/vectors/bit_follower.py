"""The bits in memory kept as the index file has them, whoever writes it: only chunks that changed are read again.

What does not fit vec0's own tables is said and not used; search goes on by vec0 then.
"""

from __future__ import annotations

from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.index.file import VECTORS
from tierdeck.vectors.bit_memory import BitMemory
from tierdeck.vectors.chunk_blobs import CHUNK_SLOTS, chunk_ids, layout_fault, read_chunk, read_slots, unpacked
from tierdeck.vectors.model_record import Model
from tierdeck.vectors.sign_bits import sign_bits, words_of


@dataclass(frozen=True, slots=True)
class Bits:
    """The bits ready to be scanned, and the mean they are taken from."""

    memory: BitMemory
    mean: NDArray[np.float32]


class BitFollower:
    """The bits of one model's vectors, as one connection sees them.

    `fault` says why there are none that can be used, as the end of a sentence; it is None also where there are none
    because the vectors are few.
    """

    def __init__(self, conn: apsw.Connection, model: Model) -> None:
        self._conn = conn
        self.model = model
        self._bits: Bits | None = None
        self._build: int | None = None
        self._seq = -1
        self.fault: str | None = None

    def current(self) -> Bits | None:
        """The bits as they are in the connection's snapshot; None when vec0 has to search."""
        try:
            self.fault = self._follow()
        except (apsw.Error, ValueError, TypeError) as e:
            if isinstance(e, apsw.BusyError | apsw.InterruptError | apsw.IOError):
                raise
            self.fault = f"they can't be read ({e})"
        if self.fault is not None:
            self._forget()
        return self._bits

    def _follow(self) -> str | None:
        """Read what changed; what is wrong, or None."""
        if not self._conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'bit_head'").fetchone():
            self._forget()  # an index of an older version
            return None
        head = self._conn.execute("SELECT model, dimensions, mean, build, seq FROM bit_head").fetchone()
        if head is None:
            self._forget()
            return None
        name, dimensions, mean, build, seq = head
        if (name, dimensions) != (self.model.name, self.model.dimensions):
            return f"they are of {name} ({dimensions} dimensions)"
        if (build, seq) == (self._build, self._seq) and self._bits is not None:
            return None
        if build != self._build or self._bits is None:
            self._bits = Bits(BitMemory(self.model.dimensions), np.frombuffer(mean, np.float32))
            self._seq = -1
            fault = layout_fault(self._conn, self.model.dimensions)
            if fault is not None:
                return fault
            if self._bits.mean.shape != (self.model.dimensions,):
                return "their mean is of another length"
        fault = self._read_changed(self._bits) or self._self_test(self._bits)
        self._build, self._seq = build, seq
        return fault

    def _read_changed(self, bits: Bits) -> str | None:
        memory = bits.memory
        there = chunk_ids(self._conn)
        rows = self._conn.execute(
            "SELECT chunk_id, validity, keys FROM bit_chunk WHERE seq > ? ORDER BY chunk_id", (self._seq,)
        )
        changed = {int(chunk_id): (validity, keys) for chunk_id, validity, keys in rows}
        for chunk_id in set(memory.chunks) - set(there):
            memory.drop(chunk_id)
        if set(memory.chunks) | set(changed) != set(there):
            return "they are not of the chunks that vec0 has"
        for chunk_id, (validity, keys) in changed.items():
            chunk = read_chunk(self._conn, chunk_id)
            if (unpacked(validity) != chunk.validity).any():
                return f"they are out of step in chunk {chunk_id}"
            blob = self._conn.execute("SELECT bits FROM bit_rows WHERE chunk_id = ?", (chunk_id,)).get
            words = np.frombuffer(blob, np.uint64).reshape(CHUNK_SLOTS, words_of(self.model.dimensions))
            memory.put(chunk_id, words, chunk.validity, chunk.rowids, np.frombuffer(keys, np.int64))
        return None

    def _self_test(self, bits: Bits) -> str | None:
        """One vector, the last that is there: vec0's, the chunk's and the bits' are the same."""
        slot = bits.memory.last_slot()
        if slot is None:
            return None
        chunk, offset, rowid = bits.memory.placed(np.array([slot]))
        vector = read_slots(self._conn, chunk, offset, self.model.dimensions)
        row = self._conn.execute(
            f"SELECT v.embedding FROM {VECTORS}_rowids r JOIN {VECTORS} v ON v.node_id = r.id WHERE r.rowid = ?",
            (int(rowid[0]),),
        ).fetchone()
        if row is None or bytes(row[0]) != vector.tobytes():
            return "a vector is not where sqlite-vec 0.1.9 puts it"
        is_same = np.array_equal(bits.memory.bits_at(slot), sign_bits(vector, bits.mean)[0])
        return None if is_same else "they are not those of the vectors"

    def _forget(self) -> None:
        self._bits, self._build, self._seq = None, None, -1
