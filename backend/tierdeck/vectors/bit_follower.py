"""The bits kept as the index file has them, whoever writes it; of many, the first search goes through the file.

From the second search on threads make ready what is read of the file: a process that asks once, as a command does,
has no use for it.

What does not fit vec0's own tables is said and not used; search goes on by vec0 then.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import apsw

from tierdeck import db
from tierdeck.vectors.bit_check import chunk_fault
from tierdeck.vectors.bit_loader import BitLoader
from tierdeck.vectors.bit_stream import BitStream
from tierdeck.vectors.bit_table import MIN_BIT_VECTORS
from tierdeck.vectors.bits import Bits
from tierdeck.vectors.chunk_blobs import chunk_ids
from tierdeck.vectors.held_bits import BitHead, HeldBits, brought_up, check_last, check_layout, read_head
from tierdeck.vectors.model_record import Model
from tierdeck.vectors.pages_ahead import PagesAhead

# Fewer chunks are loaded in 20 ms.
_STREAM_FROM_CHUNKS = 64


class BitFollower:
    """The bits of one model's vectors, as one connection sees them.

    `fault` says why there are none that can be used, as the end of a sentence; it is None also where there are none
    because the vectors are few.
    """

    def __init__(self, conn: apsw.Connection, path: Path, model: Model) -> None:
        """
        Args:
            path: of the file that the connection is to.
        """
        self._conn = conn
        self._path = path
        self.model = model
        self._bits: Bits | None = None
        self._held: HeldBits | None = None
        self._loader: BitLoader | None = None
        self._pages: PagesAhead | None = None
        self._has_searched = False
        self._version = -1
        self.fault: str | None = None

    def current(self) -> Bits | None:
        """The bits as they are in the connection's snapshot; None when vec0 has to search."""
        version = int(self._conn.pragma("data_version"))
        has_loaded = self._loader is not None and self._loader.is_over
        if version == self._version and not has_loaded:
            return self._bits
        self._version, self._bits, self.fault = -1, None, None
        try:
            self._bits = self._follow()
        except (apsw.BusyError, apsw.InterruptError, apsw.IOError):
            raise
        except (apsw.Error, TypeError) as e:
            self.fault = f"they can't be read ({e})"
        except ValueError as e:
            self.fault = str(e)
        if self._bits is None:
            self._held = None
        self._version = version
        return self._bits

    def note_search(self) -> None:
        """A search begins, by the bits where there are some; what it makes ready: see the module."""
        if self._has_searched and self._bits is not None:
            if isinstance(self._bits, BitStream) and self._loader is None:
                self._loader = BitLoader(partial(db.open_index, self._path, is_writing=False), self.model)
            if self._pages is None:
                self._pages = PagesAhead(self._path)
        self._has_searched = True

    def close(self) -> None:
        """Give the memory back; nothing can be asked any more."""
        for thread in (self._loader, self._pages):
            if thread is not None:
                thread.stop()
        self._loader = self._pages = self._held = self._bits = None

    def _follow(self) -> Bits | None:
        head = read_head(self._conn)
        if head is None:
            self.fault = "they are not made yet" if self._are_many() else None
            return None
        if head.model != self.model:
            raise ValueError(f"they are of {head.model.name} ({head.model.dimensions} dimensions)")
        is_loading = self._loader is not None and not self._loader.is_over
        if self._held is None and (is_loading or self._is_first_of_many()):
            return self._streamed(head)
        if self._loader is not None and self._loader.is_over:
            self._held, self._loader = self._loader.loaded or self._held, None
        held, self._held = self._held, None  # what is being changed is not to be used when that fails
        self._held = brought_up(self._conn, head, held)
        return self._held.memory

    def _is_first_of_many(self) -> bool:
        return self._loader is None and len(chunk_ids(self._conn)) >= _STREAM_FROM_CHUNKS

    def _streamed(self, head: BitHead) -> BitStream:
        check_layout(self._conn, head)
        fault = chunk_fault(self._conn, self.model.dimensions)
        if fault is not None:
            raise ValueError(fault)
        bits = BitStream(self._conn, head.mean)
        check_last(self._conn, bits)
        return bits

    def _are_many(self) -> bool:
        row = self._conn.execute(
            "SELECT vectors >= ? FROM index_model WHERE model = ? AND dimensions = ?",
            (2 * MIN_BIT_VECTORS, self.model.name, self.model.dimensions),
        ).fetchone()
        return bool(row and row[0])
