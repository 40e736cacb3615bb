"""The bits of one model's vectors in memory, brought to what the index file has: only chunks that changed are read.

What does not fit vec0's own tables is a ValueError, whose text is the end of a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.errors import StoppedError
from tierdeck.index.file import VECTORS
from tierdeck.index.schema import has_bit_tables
from tierdeck.vectors.bit_memory import BitMemory
from tierdeck.vectors.bits import Bits
from tierdeck.vectors.chunk_blobs import CHUNK_SLOTS, chunk_ids, layout_fault, read_chunk, read_slots, unpacked
from tierdeck.vectors.model_record import Model
from tierdeck.vectors.sign_bits import sign_bits, words_of


@dataclass(frozen=True, slots=True)
class BitHead:
    """Whose the bits are, what their signs are taken from, and in which state they are."""

    model: Model
    mean: NDArray[np.float32]
    build: int
    seq: int


@dataclass(frozen=True, slots=True)
class HeldBits:
    """Bits in memory as they were in a state of the index."""

    memory: BitMemory
    build: int
    seq: int


def read_head(conn: apsw.Connection) -> BitHead | None:
    """What the index says of its bits; None where it has none."""
    row = (
        conn.execute("SELECT model, dimensions, mean, build, seq FROM bit_head").fetchone()
        if has_bit_tables(conn)
        else None
    )
    if row is None:
        return None
    name, dimensions, mean, build, seq = row
    return BitHead(Model(name, dimensions), np.frombuffer(mean, np.float32), build, seq)


def check_layout(conn: apsw.Connection, head: BitHead) -> None:
    """See whether vec0's tables and the bits are made as they have to be."""
    fault = layout_fault(conn, head.model.dimensions)
    if fault is not None:
        raise ValueError(fault)
    if head.mean.shape != (head.model.dimensions,):
        raise ValueError("their mean is of another length")


def brought_up(
    conn: apsw.Connection, head: BitHead, held: HeldBits | None, should_stop: Callable[[], bool] | None = None
) -> HeldBits:
    """The bits as they are in the snapshot under way.

    Args:
        held: those of an earlier state, which are changed and not to be used any more; None: all are read.
        should_stop: asked before each chunk.

    Raises:
        StoppedError: it said so.
    """
    if held is None or held.build != head.build:
        check_layout(conn, head)
        held = HeldBits(BitMemory(head.mean, len(chunk_ids(conn))), head.build, -1)
    if held.seq != head.seq:
        _read_changed(conn, held, should_stop)
        check_last(conn, held.memory)
    return HeldBits(held.memory, head.build, head.seq)


def check_last(conn: apsw.Connection, bits: Bits) -> None:
    """See whether one vector, the last that is there, is the same by vec0, by its chunk and by the bits."""
    slot = bits.last_slot()
    if slot is None:
        return
    at = np.array([slot])
    (chunk, offset), rowid = bits.placed(at), bits.numbers(at)
    vector = np.empty((1, len(bits.mean)), np.float32)
    read_slots(conn, chunk, offset, vector)
    row = conn.execute(
        f"SELECT v.embedding FROM {VECTORS}_rowids r JOIN {VECTORS} v ON v.node_id = r.id WHERE r.rowid = ?",
        (int(rowid[0]),),
    ).fetchone()
    if row is None or bytes(row[0]) != vector.tobytes():
        raise ValueError("a vector is not where sqlite-vec 0.1.9 puts it")
    if not np.array_equal(bits.bits_at(slot), sign_bits(vector, bits.mean)[0]):
        raise ValueError("they are not those of the vectors")


def _read_changed(conn: apsw.Connection, held: HeldBits, should_stop: Callable[[], bool] | None) -> None:
    memory, there = held.memory, chunk_ids(conn)
    changed = {int(row[0]) for row in conn.execute("SELECT chunk_id FROM bit_chunk WHERE seq > ?", (held.seq,))}
    for chunk_id in set(memory.chunks) - set(there):
        memory.drop(chunk_id)
    if set(memory.chunks) | changed != set(there):
        raise ValueError("they are not of the chunks that vec0 has")
    words = np.empty((CHUNK_SLOTS, words_of(len(memory.mean))), np.uint64)  # one for all: see ScanBuffers
    for chunk_id in sorted(changed):
        if should_stop is not None and should_stop():
            raise StoppedError("search: stopped")
        _read_into(memory, conn, chunk_id, words)


def _read_into(memory: BitMemory, conn: apsw.Connection, chunk_id: int, words: NDArray[np.uint64]) -> None:
    validity, keys, scales = conn.execute(
        "SELECT validity, keys, scales FROM bit_chunk WHERE chunk_id = ?", (chunk_id,)
    ).get
    chunk = read_chunk(conn, chunk_id)
    if (unpacked(validity) != chunk.validity).any():
        raise ValueError(f"they are out of step in chunk {chunk_id}")
    with conn.blob_open("main", "bit_rows", "bits", chunk_id, False) as blob:
        if blob.length() != words.nbytes:
            raise ValueError(f"they are not as long as the vectors in chunk {chunk_id}")
        blob.read_into(words.data.cast("B"))
    memory.put(
        chunk_id,
        words,
        chunk.validity,
        chunk.rowids,
        np.frombuffer(keys, np.int64),
        np.frombuffer(scales, np.float32).reshape(CHUNK_SLOTS, 2),
    )
