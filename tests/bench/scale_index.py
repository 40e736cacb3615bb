"""An index file written in bulk: the same rows that the indexer writes, with vec0's own tables filled directly.

One INSERT into vec0 a vector would take most of an hour for a million. What becomes of the mean is the business of
the same code as in the indexer, batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.embed.embedder import Embedder
from tierdeck.embed.probe_sentences import PROBE_SENTENCES
from tierdeck.index.file import VECTORS, open_for_writing, set_setting
from tierdeck.model import Tier, content_hash
from tierdeck.store import Store
from tierdeck.store.drafts import DraftValues
from tierdeck.vectors.model_record import Model, load_table, prepare_tables, save_probe, save_table
from tierdeck.vectors.unit_vectors import unit_rows

CHUNK_ROWS = 1_024  # vec0's
_INDEXES = "SELECT sql, name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'embedding_state' AND sql <> ''"


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index has to know of a memory: its id, its text's hash, whether it is archived."""

    node_id: str
    content_hash: str
    is_late: bool


def indexed(values: DraftValues) -> Indexed:
    """The same of a row of `nodes`."""
    return Indexed(values[0], content_hash(values[3]), values[4] == Tier.ARCHIVE.value)


def write_index(
    store: Store,
    embedder: Embedder,
    memories: Sequence[Indexed],
    vectors: NDArray[np.float32],
    *,
    seen: tuple[int, str],
    batch_rows: int,
    at_ms: int,
) -> None:
    """Fill a store's new index file with the vectors, as a run of the indexer leaves it.

    Args:
        vectors: of length 1, one a memory, in the order of `memories`; may be mapped from a file.
        seen: the store's newest change.
        batch_rows: how many texts the indexer would send at once.
    """
    model = Model(embedder.name, embedder.dimensions)
    by_id = sorted(range(len(memories)), key=lambda at: memories[at].node_id)
    batches = list(_batches(memories, by_id, batch_rows))
    with closing(open_for_writing(store)) as conn:
        prepare_tables(conn, model)
        for pragma in ("journal_mode=delete", "journal_mode=off", "synchronous=off", "mmap_size=0"):
            conn.execute(f"PRAGMA {pragma}").fetchall()
        probes, _ = unit_rows(embedder.embed(PROBE_SENTENCES))
        with conn:
            save_probe(conn, model, probes.astype(np.float64).sum(axis=0) / len(probes))
            _write_states(conn, model, memories, by_id, batches, at_ms)
            order = [at for batch in batches for at in batch]
            _write_rowids(conn, memories, order)
            _write_chunks(conn, vectors, order)
            _write_sums(conn, model, vectors, batches)
            set_setting(conn, "vector_seq", len(batches))
            conn.execute("UPDATE index_model SET seen_seq = ?, seen_node = ?", seen)
        conn.execute("PRAGMA journal_mode=wal").fetchall()


def _batches(memories: Sequence[Indexed], by_id: Sequence[int], batch_rows: int) -> Iterator[list[int]]:
    """The memories of each of the indexer's batches: equal texts together, archived ones last."""
    holders: dict[str, list[int]] = {}
    for at in by_id:
        holders.setdefault(memories[at].content_hash, []).append(at)
    texts: dict[str, None] = {}
    for is_late in (False, True):
        texts |= {memories[at].content_hash: None for at in by_id if memories[at].is_late is is_late}
    hashes = list(texts)
    for first in range(0, len(hashes), batch_rows):
        yield [at for text in hashes[first : first + batch_rows] for at in holders[text]]


def _write_states(
    conn: apsw.Connection,
    model: Model,
    memories: Sequence[Indexed],
    by_id: Sequence[int],
    batches: Sequence[Sequence[int]],
    at_ms: int,
) -> None:
    seqs = [0] * len(memories)
    for seq, batch in enumerate(batches, start=1):
        for at in batch:
            seqs[at] = seq
    indexes = conn.execute(_INDEXES).fetchall()
    for _, name in indexes:
        conn.execute(f"DROP INDEX {name}")
    conn.executemany("INSERT INTO node_key (id) VALUES (?)", ((memories[at].node_id,) for at in by_id))
    conn.executemany(
        "INSERT INTO embedding_state (model, dimensions, node_id, content_hash, status, is_late, embedded_at, seq)"
        " VALUES (?, ?, ?, ?, 'done', ?, ?, ?)",
        (
            (model.name, model.dimensions, one.node_id, one.content_hash, one.is_late, at_ms, seqs[at])
            for at in by_id
            for one in (memories[at],)
        ),
    )
    for sql, _ in indexes:
        conn.execute(str(sql))


def _write_rowids(conn: apsw.Connection, memories: Sequence[Indexed], order: Sequence[int]) -> None:
    conn.executemany(
        f"INSERT INTO {VECTORS}_rowids (rowid, id, chunk_id, chunk_offset) VALUES (?, ?, ?, ?)",
        ((n + 1, memories[at].node_id, 1 + n // CHUNK_ROWS, n % CHUNK_ROWS) for n, at in enumerate(order)),
    )


def _write_chunks(conn: apsw.Connection, vectors: NDArray[np.float32], order: Sequence[int]) -> None:
    """Whole chunks as vec0 lays them out: which slots are taken, as bits; the slots' rowids; the vectors."""
    for first in range(0, len(order), CHUNK_ROWS):
        places = order[first : first + CHUNK_ROWS]
        rows = len(places)
        rowids = np.zeros(CHUNK_ROWS, np.int64)
        rowids[:rows] = np.arange(first + 1, first + rows + 1)
        chunk = np.zeros((CHUNK_ROWS, vectors.shape[1]), np.float32)
        chunk[:rows] = vectors[places]
        taken = np.packbits(rowids > 0, bitorder="little").tobytes()
        number = 1 + first // CHUNK_ROWS
        conn.execute(
            f"INSERT INTO {VECTORS}_chunks (chunk_id, size, validity, rowids) VALUES (?, ?, ?, ?)",
            (number, CHUNK_ROWS, taken, rowids.tobytes()),
        )
        conn.execute(
            f"INSERT INTO {VECTORS}_vector_chunks00 (rowid, vectors) VALUES (?, ?)", (number, chunk.tobytes())
        )


def _write_sums(
    conn: apsw.Connection, model: Model, vectors: NDArray[np.float32], batches: Sequence[Sequence[int]]
) -> None:
    table = load_table(conn, model)
    for batch in batches:
        table.vectors += len(batch)
        table.vector_sum += vectors[batch].sum(axis=0)
        save_table(conn, model, table)
