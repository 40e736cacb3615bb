"""The stores of the search benchmark: what is written in bulk is what the program itself would have written."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest

from tests.bench.scale_store import scale_store
from tests.bench.small_scale import SENTENCES, LetterCounts, write_documents
from tierdeck import db
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.indexer import run_indexer
from tierdeck.index.path import index_path
from tierdeck.model import NodeDraft, NodeType, Tier
from tierdeck.store import open_store
from tierdeck.store.nodes import add_nodes
from tierdeck.vectors.vector_index import open_vector_index

ROWS = 2_500  # enough for bits; more than one of vec0's chunks, the last not full
# `embedded_at` is the time of the run; what claims a row is gone when it is done.
STATES = (
    "SELECT id, model, dimensions, node_id, content_hash, status, is_late, attempts, error, seq, claimed_by,"
    " claimed_until FROM embedding_state ORDER BY id"
)
NODES = (
    "SELECT id, type, subtype, content, tier, confidence, provenance, created_at, updated_at, last_accessed,"
    " access_count, metadata FROM nodes ORDER BY pk"
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of one collection of a few documents."""
    return write_documents(tmp_path / "data", SENTENCES)


def rows_of(path: Path, sql: str) -> list[tuple[object, ...]]:
    """What a statement gives on an index or a store."""
    with closing(apsw.Connection(str(path))) as conn:
        db.load_vec(conn)
        return [tuple(row) for row in conn.execute(sql)]


def test_a_store_built_in_bulk_holds_what_the_program_itself_writes(tmp_path: Path, data: Path) -> None:
    built = scale_store(ROWS, data, tmp_path / "scale", LetterCounts())
    drafts = [
        NodeDraft(
            str(content), NodeType(str(kind)), Tier(str(tier)), float(str(confidence)), None, str(provenance),
            json.loads(str(metadata)), str(key), int(str(created)), True, int(str(updated)), int(str(used)),
            int(str(count)),
        )
        for key, kind, _, content, tier, confidence, provenance, created, updated, used, count, metadata
        in rows_of(built.path, NODES)
    ]  # fmt: skip
    with open_store(tmp_path / "real.db", create=True) as store:
        add_nodes(store, drafts)
        assert run_indexer(store, LetterCounts(), EmbeddingSettings()).embedded == ROWS
        real_index = index_path(store)
    bulk_index = built.path.with_name("memory.db-index")
    real = tmp_path / "real.db"

    assert rows_of(built.path, NODES) == rows_of(real, NODES)
    for sql in (
        "SELECT node_id FROM td_change ORDER BY seq",  # the numbers are drawn
        "SELECT rowid, node_id, content, type FROM content_fts ORDER BY rowid",
        "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name",
    ):
        assert rows_of(built.path, sql) == rows_of(real, sql)
    for sql in (
        STATES,
        "SELECT n, id FROM node_key ORDER BY n",
        "SELECT rowid, id, chunk_id, chunk_offset FROM node_embeddings_rowids ORDER BY rowid",
        "SELECT chunk_id, size, validity, rowids FROM node_embeddings_chunks ORDER BY chunk_id",
        "SELECT rowid, vectors FROM node_embeddings_vector_chunks00 ORDER BY rowid",
        "SELECT model, dimensions, vectors, vector_sum, probe_mean, mean, mean_vectors FROM index_model",
        "SELECT key, value FROM index_setting WHERE key <> 'source_path'"
        " AND key NOT IN ('terms_seen_seq', 'terms_seen_node', 'vocabulary_seq', 'vocabulary_node')",
        "SELECT model, dimensions, mean FROM bit_head",  # `build` is drawn, `seq` counts writes
        "SELECT chunk_id, validity, keys FROM bit_chunk ORDER BY chunk_id",
        "SELECT chunk_id, bits FROM bit_rows ORDER BY chunk_id",
        "SELECT name, seq FROM sqlite_sequence ORDER BY name",
        "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name",
    ):
        assert rows_of(bulk_index, sql) == rows_of(real_index, sql), sql


def test_a_built_store_has_every_vector_at_its_memory_and_is_used_again(tmp_path: Path, data: Path) -> None:
    built = scale_store(ROWS, data, tmp_path / "scale", LetterCounts())
    made_at = built.path.stat().st_mtime_ns
    again = scale_store(ROWS, data, tmp_path / "scale", LetterCounts())
    assert again == built
    assert built.path.stat().st_mtime_ns == made_at
    with open_store(built.path) as store:
        index = open_vector_index(store)
        assert index is not None
        with index:
            found = index.vectors(built.ids())
    assert np.array_equal(np.stack([found[key] for key in built.ids()]), built.vectors())


def test_a_store_of_other_documents_is_not_used_again(tmp_path: Path, data: Path) -> None:
    first = scale_store(20, data, tmp_path / "scale", LetterCounts())
    texts = rows_of(first.path, NODES)
    write_documents(data, SENTENCES[::-1])
    second = scale_store(20, data, tmp_path / "scale", LetterCounts())
    assert rows_of(second.path, NODES) != texts
