"""One vec0 table written: a vector put in, replaced, taken out; the sum of them all and their bits kept in step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.vectors.bit_table import BitTable, Slot

_IS_THERE = "UNIQUE constraint failed"


class VectorTable:
    """The vectors of one model. Every call runs inside the caller's transaction.

    `vector_sum` (float64: a float32 sum drifts), `vectors` and the bits, where the table has some, follow each
    change.
    """

    def __init__(
        self,
        conn: apsw.Connection,
        table: str,
        vector_sum: NDArray[np.float64],
        vectors: int,
        bits: BitTable | None = None,
    ) -> None:
        self._conn = conn
        self._newest = f"SELECT max(rowid) FROM {table}_rowids"
        new = f"FROM {table}_rowids WHERE rowid > ?"
        self._slots_after = f"SELECT chunk_id, chunk_offset {new} ORDER BY rowid"
        self._runs_after = (
            f"SELECT chunk_id, min(chunk_offset), max(chunk_offset), count(*) {new}"
            " GROUP BY chunk_id ORDER BY min(rowid)"
        )
        self._slot = f"SELECT chunk_id, chunk_offset FROM {table}_rowids WHERE id = ?"
        self._select = f"SELECT embedding FROM {table} WHERE node_id = ?"
        self._insert = f"INSERT INTO {table} (node_id, embedding) VALUES (?, ?)"
        self._update = f"UPDATE {table} SET embedding = ? WHERE node_id = ?"
        self._delete = f"DELETE FROM {table} WHERE node_id = ?"
        self.vector_sum = vector_sum
        self.vectors = vectors
        self.bits = bits

    def put(self, rows: Sequence[tuple[str, NDArray[np.float32]]], keys: Mapping[str, int] | None = None) -> None:
        """Write memories' vectors, whether or not they have one.

        vec0 raises on an existing key even with OR REPLACE. Most memories are new, and a look-up before each insert
        would cost a tenth of it: all are inserted at once, and one by one only when one of them is there already.

        Args:
            keys: the store's rowids of those memories, as far as they are known.
        """
        if not rows:
            return
        row_keys = [0 if keys is None else keys.get(node_id, 0) for node_id, _ in rows]
        matrix = np.stack([vector for _, vector in rows])
        newest = 0 if self.bits is None else self._conn.execute(self._newest).get or 0
        try:
            with self._conn:  # inside a transaction: a savepoint
                self._conn.executemany(
                    self._insert,
                    ((node_id, vector.data) for (node_id, _), vector in zip(rows, matrix, strict=True)),
                )
        except apsw.SQLError as e:
            if _IS_THERE not in str(e):
                raise
            for (node_id, vector), key in zip(rows, row_keys, strict=True):
                self._put_one(node_id, vector, key)
        else:
            self.vectors += len(rows)
            # Within a batch float32 errs by 1e-7 of the sum and takes half the time; over many it would drift.
            self.vector_sum += matrix.sum(axis=0)
            if self.bits is not None:  # vec0 numbers what it is given in that order
                self.bits.write(self._new_slots(newest), matrix, row_keys)

    def get(self, node_id: str) -> NDArray[np.float32] | None:
        """The memory's vector; None when it has none."""
        row = self._conn.execute(self._select, (node_id,)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)

    def remove(self, node_id: str) -> None:
        """Take the memory's vector out, if it has one."""
        old = self.get(node_id)
        if old is not None:
            slot = self.slot(node_id) if self.bits is not None else None
            self._conn.execute(self._delete, (node_id,))
            self.vector_sum -= old
            self.vectors -= 1
            if self.bits is not None and slot is not None:
                self.bits.clear(slot)

    def keep_keys(self, keys: Mapping[str, int]) -> None:
        """Keep the store's rowids of memories that have bits."""
        if self.bits is not None and keys:
            placed = ((self.slot(node_id), key) for node_id, key in keys.items())
            self.bits.set_keys((slot, key) for slot, key in placed if slot is not None)

    def slot(self, node_id: str) -> Slot | None:
        """Where the memory's vector lies, (chunk, offset); None when it has none."""
        row = self._conn.execute(self._slot, (node_id,)).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    def _new_slots(self, newest: int) -> NDArray[np.int64]:
        """Where the vectors lie that were inserted after that number, (chunk, offset) a row, in their order.

        vec0 takes the first free slot each time: mostly they lie side by side, and need no look-up each.
        """
        runs = cast("list[tuple[int, int, int, int]]", self._conn.execute(self._runs_after, (newest,)).fetchall())
        if any(last - first + 1 != count for _, first, last, count in runs):
            slots = cast("list[Slot]", self._conn.execute(self._slots_after, (newest,)).fetchall())
            return np.array(slots, np.int64)
        parts = [
            np.stack([np.full(count, chunk), np.arange(first, last + 1)], axis=1)
            for chunk, first, last, count in runs
        ]
        return np.concatenate(parts).astype(np.int64)

    def _put_one(self, node_id: str, vector: NDArray[np.float32], key: int) -> None:
        """An update keeps slot and rowid, while a deleted slot is used again only in the newest chunk."""
        old = self.get(node_id)
        if old is None:
            self._conn.execute(self._insert, (node_id, vector.tobytes()))
            self.vectors += 1
        else:
            self._conn.execute(self._update, (vector.tobytes(), node_id))
            self.vector_sum -= old
        self.vector_sum += vector
        slot = self.slot(node_id) if self.bits is not None else None
        if self.bits is not None and slot is not None:
            self.bits.write(np.array([slot], np.int64), vector[None, :], [key])
