"""vec0's own tables read without vec0: where a vector lies, and its numbers straight from the chunk.

vec0 gives a vector in 14 µs and goes through all of them by SELECT in half a millisecond each; its chunks read as
blobs take a tenth of that. Their layout is documented nowhere: sqlite-vec is pinned, and what is found is compared
with what was read of that version before anything is taken from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.index.file import VECTORS

CHUNK_SLOTS = 1024
_BLOBS = f"{VECTORS}_vector_chunks00"
_PLACES = (
    f"SELECT id, chunk_id, chunk_offset FROM {VECTORS}_rowids WHERE id IN (SELECT value FROM json_each(?))"
    " ORDER BY chunk_id, chunk_offset"
)
_LAYOUT = {
    f"{VECTORS}_chunks": (
        f'CREATE TABLE "{VECTORS}_chunks"(chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,size INTEGER NOT NULL,'
        "validity BLOB NOT NULL,rowids BLOB NOT NULL)"
    ),
    f"{VECTORS}_rowids": (
        f'CREATE TABLE "{VECTORS}_rowids"(rowid INTEGER PRIMARY KEY AUTOINCREMENT,id TEXT UNIQUE NOT NULL,'
        "chunk_id INTEGER,chunk_offset INTEGER)"
    ),
    _BLOBS: f'CREATE TABLE "{_BLOBS}"(rowid PRIMARY KEY,vectors BLOB NOT NULL)',
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of vec0's: which of its slots hold a vector, bool (1024,), and vec0's number of each, int64."""

    chunk_id: int
    validity: NDArray[np.bool_]
    rowids: NDArray[np.int64]


def layout_fault(conn: apsw.Connection, dimensions: int) -> str | None:
    """What of vec0's tables is not as we know it, as the end of a sentence; None when all is.

    Every chunk's lengths are looked at (0.5 ms per million vectors), no vector is.
    """
    found = {
        str(name): " ".join(str(sql).split())
        for name, sql in conn.execute(
            f"SELECT name, sql FROM sqlite_master WHERE name IN ({','.join('?' * len(_LAYOUT))})", tuple(_LAYOUT)
        )
    }
    for name, sql in _LAYOUT.items():
        if found.get(name) != sql:
            return f"{name} is not made as sqlite-vec 0.1.9 makes it"
    odd = conn.execute(
        f"SELECT c.chunk_id FROM {VECTORS}_chunks c LEFT JOIN {_BLOBS} v ON v._rowid_ = c.chunk_id"
        " WHERE v.rowid IS NOT c.chunk_id OR length(v.vectors) <> ? OR c.size <> ?"
        " OR length(c.validity) <> ? OR length(c.rowids) <> ? LIMIT 1",
        (4 * dimensions * CHUNK_SLOTS, CHUNK_SLOTS, CHUNK_SLOTS // 8, 8 * CHUNK_SLOTS),
    ).fetchone()
    return None if odd is None else f"its chunk {odd[0]} is not as long as sqlite-vec 0.1.9 makes it"


def chunk_ids(conn: apsw.Connection) -> list[int]:
    """Every chunk's number, in order."""
    return [int(row[0]) for row in conn.execute(f"SELECT chunk_id FROM {VECTORS}_chunks ORDER BY chunk_id")]


def read_chunk(conn: apsw.Connection, chunk_id: int) -> Chunk:
    """What vec0 says of the slots of a chunk that is there."""
    validity, rowids = conn.execute(
        f"SELECT validity, rowids FROM {VECTORS}_chunks WHERE chunk_id = ?", (chunk_id,)
    ).get
    return Chunk(chunk_id, unpacked(validity), np.frombuffer(rowids, np.int64))


def read_chunk_vectors(conn: apsw.Connection, chunk_id: int, dimensions: int) -> NDArray[np.float32]:
    """All slots of a chunk, float32 (1024, dimensions); an empty slot's numbers mean nothing."""
    with conn.blob_open("main", _BLOBS, "vectors", chunk_id, False) as blob:
        numbers = np.frombuffer(blob.read(), np.float32)
    return numbers.reshape(CHUNK_SLOTS, dimensions)


def read_slots(
    conn: apsw.Connection, chunk_ids: NDArray[np.int64], offsets: NDArray[np.int64], out: NDArray[np.float32]
) -> None:
    """Read the vectors of single slots into `out`, (n, dimensions). Fastest in the order of chunks and offsets."""
    read_slots_of(conn, (_BLOBS, "vectors"), chunk_ids, offsets, out)


def read_slots_of(
    conn: apsw.Connection,
    column: tuple[str, str],
    chunk_ids: NDArray[np.int64],
    offsets: NDArray[np.int64],
    out: NDArray[np.generic],
) -> None:
    """The same of any column (table, name) of blobs, one for each chunk, with so much for each slot."""
    if not len(offsets):
        return
    row_bytes = out.nbytes // len(out)
    into = memoryview(out.data).cast("B")
    at_chunk = int(chunk_ids[0])
    places = zip(chunk_ids.tolist(), (offsets * row_bytes).tolist(), range(0, out.nbytes, row_bytes), strict=True)
    with conn.blob_open("main", *column, at_chunk, False) as blob:
        for chunk_id, begin, place in places:
            if chunk_id != at_chunk:
                blob.reopen(chunk_id)
                at_chunk = chunk_id
            blob.seek(begin)
            blob.read_into(into, place, row_bytes)


def placed_vectors(conn: apsw.Connection, ids: Iterable[str], dimensions: int) -> dict[str, NDArray[np.float32]]:
    """The vectors of those of the memories that have one: 3.5 µs each, where vec0 takes 14."""
    places = conn.execute(_PLACES, (json.dumps(list(ids)),)).fetchall()
    chunks = np.array([place[1] for place in places], np.int64)
    offsets = np.array([place[2] for place in places], np.int64)
    vectors = np.empty((len(places), dimensions), np.float32)
    read_slots(conn, chunks, offsets, vectors)
    return {str(place[0]): vector for place, vector in zip(places, vectors, strict=True)}


def packed(validity: NDArray[np.bool_]) -> bytes:
    """Which slots hold a vector, as vec0 writes it: the first slot is the first byte's lowest bit."""
    return np.packbits(validity, bitorder="little").tobytes()


def unpacked(validity: bytes) -> NDArray[np.bool_]:
    """Which slots hold a vector, bool (8 x the bytes,), of what vec0 wrote."""
    return np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").view(np.bool_)
