"""The bits in memory kept as the index file has them, whoever writes it: only chunks that changed are read again.

What does not fit vec0's own tables is said and not used; search goes on by vec0 then.
"""

from __future__ import annotations

import apsw
import numpy as np

from tierdeck.index.file import VECTORS
from tierdeck.index.schema import has_bit_tables
from tierdeck.vectors.bit_memory import BitMemory
from tierdeck.vectors.bit_table import MIN_BIT_VECTORS
from tierdeck.vectors.chunk_blobs import CHUNK_SLOTS, chunk_ids, layout_fault, read_chunk, read_slots, unpacked
from tierdeck.vectors.model_record import Model
from tierdeck.vectors.sign_bits import sign_bits, words_of


class BitFollower:
    """The bits of one model's vectors, as one connection sees them.

    `fault` says why there are none that can be used, as the end of a sentence; it is None also where there are none
    because the vectors are few.
    """

    def __init__(self, conn: apsw.Connection, model: Model) -> None:
        self._conn = conn
        self.model = model
        self._memory: BitMemory | None = None
        self._version = -1
        self._build: int | None = None
        self._seq = -1
        self.fault: str | None = None

    def current(self) -> BitMemory | None:
        """The bits as they are in the connection's snapshot; None when vec0 has to search."""
        version = int(self._conn.pragma("data_version"))
        if version == self._version:
            return self._memory
        self._version = -1
        try:
            self.fault = self._follow()
        except (apsw.BusyError, apsw.InterruptError, apsw.IOError):
            raise
        except (apsw.Error, ValueError, TypeError) as e:
            self.fault = f"they can't be read ({e})"
        if self.fault is not None:
            self._memory = None
        self._version = version
        return self._memory

    def _follow(self) -> str | None:
        """Read what changed; what is wrong, or None."""
        row = (
            self._conn.execute("SELECT model, dimensions, mean, build, seq FROM bit_head").fetchone()
            if has_bit_tables(self._conn)
            else None
        )
        if row is None:
            self._memory = None
            return "they are not made yet" if self._are_many() else None
        name, dimensions, mean, build, seq = row
        if (name, dimensions) != (self.model.name, self.model.dimensions):
            return f"they are of {name} ({dimensions} dimensions)"
        if self._memory is None or build != self._build:
            fault = layout_fault(self._conn, self.model.dimensions)
            if fault is not None:
                return fault
            self._memory = BitMemory(np.frombuffer(mean, np.float32), len(chunk_ids(self._conn)))
            self._seq = -1
            if self._memory.mean.shape != (self.model.dimensions,):
                return "their mean is of another length"
        fault = None
        if seq != self._seq:
            fault = self._read_changed(self._memory) or self._self_test(self._memory)
        self._build, self._seq = build, seq
        return fault

    def _are_many(self) -> bool:
        row = self._conn.execute(
            "SELECT vectors >= ? FROM index_model WHERE model = ? AND dimensions = ?",
            (2 * MIN_BIT_VECTORS, self.model.name, self.model.dimensions),
        ).fetchone()
        return bool(row and row[0])

    def _read_changed(self, memory: BitMemory) -> str | None:
        there = chunk_ids(self._conn)
        changed = {
            int(row[0]) for row in self._conn.execute("SELECT chunk_id FROM bit_chunk WHERE seq > ?", (self._seq,))
        }
        for chunk_id in set(memory.chunks) - set(there):
            memory.drop(chunk_id)
        if set(memory.chunks) | changed != set(there):
            return "they are not of the chunks that vec0 has"
        words = np.empty((CHUNK_SLOTS, words_of(self.model.dimensions)), np.uint64)  # one for all: see ScanBuffers
        for chunk_id in sorted(changed):
            validity, keys, scales = self._conn.execute(
                "SELECT validity, keys, scales FROM bit_chunk WHERE chunk_id = ?", (chunk_id,)
            ).get
            chunk = read_chunk(self._conn, chunk_id)
            if (unpacked(validity) != chunk.validity).any():
                return f"they are out of step in chunk {chunk_id}"
            with self._conn.blob_open("main", "bit_rows", "bits", chunk_id, False) as blob:
                if blob.length() != words.nbytes:
                    return f"they are not as long as the vectors in chunk {chunk_id}"
                blob.read_into(words.data.cast("B"))
            memory.put(
                chunk_id,
                words,
                chunk.validity,
                chunk.rowids,
                np.frombuffer(keys, np.int64),
                np.frombuffer(scales, np.float32).reshape(CHUNK_SLOTS, 2),
            )
        return None

    def _self_test(self, memory: BitMemory) -> str | None:
        """One vector, the last that is there: vec0's, the chunk's and the bits' are the same."""
        slot = memory.last_slot()
        if slot is None:
            return None
        at = np.array([slot])
        (chunk, offset), rowid = memory.placed(at), memory.numbers(at)
        vector = np.empty((1, self.model.dimensions), np.float32)
        read_slots(self._conn, chunk, offset, vector)
        row = self._conn.execute(
            f"SELECT v.embedding FROM {VECTORS}_rowids r JOIN {VECTORS} v ON v.node_id = r.id WHERE r.rowid = ?",
            (int(rowid[0]),),
        ).fetchone()
        if row is None or bytes(row[0]) != vector.tobytes():
            return "a vector is not where sqlite-vec 0.1.9 puts it"
        is_same = np.array_equal(memory.bits_at(slot), sign_bits(vector, memory.mean)[0])
        return None if is_same else "they are not those of the vectors"
