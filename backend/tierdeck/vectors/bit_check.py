"""Whether the sign bits are those that a rebuild would give, and the rebuild.

They are written with the vectors in one transaction, so only a hand, a damaged file or a fault of ours puts them
out of step.
"""

from __future__ import annotations

import random

import apsw
import numpy as np

from tierdeck.index.file import VECTORS
from tierdeck.index.schema import complete, has_bit_tables
from tierdeck.vectors.bit_table import MIN_BIT_VECTORS, drop_bits
from tierdeck.vectors.chunk_blobs import chunk_ids, layout_fault, read_chunk, read_chunk_vectors
from tierdeck.vectors.model_record import Model, keep_bits
from tierdeck.vectors.sign_bits import scales_of, sign_bits, words_of

# So many chunks are compared where nobody asked for a thorough look: some 20 ms.
SAMPLED_CHUNKS = 4
_FAULTY = (
    f"SELECT coalesce(c.chunk_id, b.chunk_id, r.chunk_id) FROM {VECTORS}_chunks c"
    " FULL JOIN bit_chunk b ON b.chunk_id = c.chunk_id FULL JOIN bit_rows r ON r.chunk_id = c.chunk_id"
    " WHERE b.validity IS NOT c.validity OR length(r.bits) IS NOT c.size * 8 * ?"
    " OR length(b.keys) <> c.size * 8 OR length(b.scales) <> c.size * 8 ORDER BY 1 LIMIT 1"
)


def chunk_fault(conn: apsw.Connection, dimensions: int) -> str | None:
    """Which chunk has not as many bits as it needs, or holds other slots by vec0, as the end of a sentence."""
    odd = conn.execute(_FAULTY, (words_of(dimensions),)).fetchone()
    return None if odd is None else f"they are out of step in chunk {odd[0]}"


def bit_fault(conn: apsw.Connection, model: Model, *, chunks: int | None = None) -> str | None:
    """What is wrong with the bits of the current model's vectors, as the end of a sentence; None when nothing is.

    Args:
        chunks: how many chunks, drawn at random, are compared with bits made anew from their vectors; None for all
            (4 s for a million vectors of 1,536 numbers).
    """
    if not has_bit_tables(conn):
        return "their tables are not there or not ours"
    head = conn.execute("SELECT model, dimensions, mean FROM bit_head").fetchone()
    if head is None:
        row = conn.execute(
            "SELECT vectors >= ? AND mean IS NOT NULL FROM index_model WHERE model = ? AND dimensions = ?",
            (MIN_BIT_VECTORS, model.name, model.dimensions),
        ).fetchone()
        return "they are not made yet" if row is not None and row[0] else None
    name, dimensions, raw_mean = head
    if (name, dimensions) != (model.name, model.dimensions) or len(raw_mean) != 4 * model.dimensions:
        return f"they are of {name} ({dimensions} dimensions)"
    fault = layout_fault(conn, model.dimensions)
    if fault is not None:
        return fault
    fault = chunk_fault(conn, model.dimensions)
    if fault is not None:
        return fault
    mean = np.frombuffer(raw_mean, np.float32)
    there = chunk_ids(conn)
    for chunk_id in there if chunks is None else random.sample(there, min(chunks, len(there))):
        if not _is_same(conn, chunk_id, mean):
            return f"they are not those of the vectors in chunk {chunk_id}"
    return None


def rebuild_bits(conn: apsw.Connection, model: Model) -> None:
    """Throw the bits of the current model's vectors away and make them anew, inside the caller's transaction.

    The store's rowids are not taken over, for they may be wrong too; the indexer's next run looks them up.
    """
    complete(conn)
    drop_bits(conn)
    keep_bits(conn, model)


def _is_same(conn: apsw.Connection, chunk_id: int, mean: np.ndarray[tuple[int], np.dtype[np.float32]]) -> bool:
    valid = read_chunk(conn, chunk_id).validity
    vectors = read_chunk_vectors(conn, chunk_id, len(mean))[valid]
    bits, scales = conn.execute(
        "SELECT r.bits, b.scales FROM bit_rows r JOIN bit_chunk b ON b.chunk_id = r.chunk_id WHERE r.chunk_id = ?",
        (chunk_id,),
    ).get
    words = np.frombuffer(bits, np.uint64).reshape(len(valid), -1)
    kept = np.frombuffer(scales, np.float32).reshape(len(valid), 2)
    # A sum of 1,536 products may come out a little different on another processor.
    return bool((words[valid] == sign_bits(vectors, mean)).all()) and bool(
        np.allclose(kept[valid], scales_of(vectors, mean), atol=1e-5)
    )
