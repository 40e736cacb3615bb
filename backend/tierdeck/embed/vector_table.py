"""One vec0 table written: a vector put in, replaced, taken out; the running sum of them all kept in step."""

from __future__ import annotations

import apsw
import numpy as np
from numpy.typing import NDArray


class VectorTable:
    """The vectors of one model. Every call runs inside the caller's transaction.

    `vector_sum` (float64: a float32 sum drifts) and `vectors` follow each change.
    """

    def __init__(self, conn: apsw.Connection, table: str, vector_sum: NDArray[np.float64], vectors: int) -> None:
        self._conn = conn
        self._select = f"SELECT embedding FROM {table} WHERE node_id = ?"
        self._insert = f"INSERT INTO {table} (node_id, embedding) VALUES (?, ?)"
        self._update = f"UPDATE {table} SET embedding = ? WHERE node_id = ?"
        self._delete = f"DELETE FROM {table} WHERE node_id = ?"
        self.vector_sum = vector_sum
        self.vectors = vectors

    def put(self, node_id: str, vector: NDArray[np.float32]) -> None:
        """Write the memory's vector, whether or not it has one.

        vec0 raises on an existing key even with OR REPLACE, and an update keeps slot and rowid while a deleted slot
        is used again only in the newest chunk. A look-up before each insert would cost a tenth of it.
        """
        try:
            self._conn.execute(self._insert, (node_id, vector.tobytes()))
        except apsw.SQLError as e:
            if "UNIQUE constraint" not in str(e):
                raise
            self.vector_sum -= self._get(node_id)
            self._conn.execute(self._update, (vector.tobytes(), node_id))
        else:
            self.vectors += 1
        self.vector_sum += vector

    def get(self, node_id: str) -> NDArray[np.float32] | None:
        """The memory's vector; None when it has none."""
        row = self._conn.execute(self._select, (node_id,)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)

    def remove(self, node_id: str) -> None:
        """Take the memory's vector out, if it has one."""
        old = self.get(node_id)
        if old is not None:
            self._conn.execute(self._delete, (node_id,))
            self.vector_sum -= old
            self.vectors -= 1

    def _get(self, node_id: str) -> NDArray[np.float32]:
        found = self.get(node_id)
        if found is None:
            raise apsw.CorruptError(f"vec0 holds {node_id!r} as a key but not its vector")
        return found
