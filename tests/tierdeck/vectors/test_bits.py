"""The bits beside vec0: what they find, what they follow, and what becomes of them when something is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember
from tests.tierdeck.vectors.few_bits import FEW, assert_bits_in_step, begin_early
from tierdeck import db
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.indexer import run_indexer
from tierdeck.errors import StoppedError
from tierdeck.index.file import VECTORS, get_setting, open_for_writing, set_setting
from tierdeck.index.path import index_path
from tierdeck.index.schema import BIT_TABLES
from tierdeck.maintenance.doctor import examine
from tierdeck.maintenance.purge import purge
from tierdeck.maintenance.repair import repair
from tierdeck.model import NodeChanges, NodeFilter
from tierdeck.search import hybrid_search
from tierdeck.store import Store
from tierdeck.store.changes import edit_node
from tierdeck.vectors.vector_index import VectorIndex, open_vector_index

SETTINGS = EmbeddingSettings(batch_rows=50)
MODEL = ChosenVectors({}, dimensions=70)


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    begin_early(monkeypatch)


@pytest.fixture
def index(store: Store) -> Iterator[VectorIndex]:
    remember(store, *(f"memory {n}" for n in range(300)))
    with embed_all(store, MODEL) as opened:
        yield opened


def by_all(store: Store, index: VectorIndex, text: str, rows: int) -> list[str]:
    """The nearest memories, by comparing with every vector."""
    query = MODEL.embed([text])[0]
    ids = store.read(lambda c: [str(row[0]) for row in c.execute("SELECT id FROM nodes")])
    return [node_id for node_id, _ in index.nearest(query, rows, ids)]


def found(index: VectorIndex, text: str, rows: int) -> list[str]:
    return [node_id for node_id, _ in index.nearest(MODEL.embed([text])[0], rows)]


def has_scan(index: VectorIndex) -> bool:
    with index.scanning(np.eye(70, dtype=np.float32)[0]) as scan:
        return scan is not None


def test_the_nearest_by_bits_are_those_of_comparing_with_all(store: Store, index: VectorIndex) -> None:
    assert has_scan(index)
    for n in range(20):
        assert found(index, f"query {n}", 10) == by_all(store, index, f"query {n}", 10)


def test_a_handful_of_vectors_has_no_bits(store: Store) -> None:
    remember(store, *(f"memory {n}" for n in range(FEW - 1)))
    with embed_all(store, MODEL) as index:
        assert not has_scan(index)
        assert index.bits_fault is None
        remember(store, "one more")
        run_indexer(store, MODEL, SETTINGS)
        assert has_scan(index)
    assert_bits_in_step(store)


def test_what_another_connection_writes_is_followed_chunk_by_chunk(store: Store, index: VectorIndex) -> None:
    first = found(index, "memory 7", 1)
    with store.writing() as conn:
        conn.execute("DELETE FROM nodes WHERE id = ?", first)
    [new] = remember(store, "brand new")
    edited = found(index, "memory 8", 1)[0]
    edit_node(store, edited, NodeChanges(content="written anew"), actor="t")
    run_indexer(store, MODEL, SETTINGS)
    assert found(index, "brand new", 1) == [new]
    assert found(index, "written anew", 1) == [edited]
    assert first[0] not in found(index, "memory 7", 300)
    assert len(found(index, "memory 7", 400)) == 300
    assert_bits_in_step(store)


def test_chunks_that_come_and_go_keep_what_is_found_right(store: Store, index: VectorIndex) -> None:
    ids = remember(store, *(f"later {n}" for n in range(2_000)))
    run_indexer(store, MODEL, SETTINGS)
    assert found(index, "later 1500", 5) == by_all(store, index, "later 1500", 5)
    with store.writing() as conn:  # the whole second chunk among them
        conn.executemany("DELETE FROM nodes WHERE id = ?", [(node_id,) for node_id in ids[:1_900]])
    run_indexer(store, MODEL, SETTINGS)
    assert found(index, "later 1950", 5) == by_all(store, index, "later 1950", 5)
    remember(store, *(f"last {n}" for n in range(1_100)))
    run_indexer(store, MODEL, SETTINGS)
    assert found(index, "last 600", 5) == by_all(store, index, "last 600", 5)
    assert_bits_in_step(store)


def test_another_model_takes_the_bits_over(store: Store, index: VectorIndex) -> None:
    assert has_scan(index)
    other = ChosenVectors({}, name="other", dimensions=130)
    run_indexer(store, other, SETTINGS)
    query = other.embed(["memory 5"])[0]
    assert index.nearest(query, 1)[0][1] == pytest.approx(1.0, abs=1e-5)
    with index.scanning(query / np.linalg.norm(query)) as scan:
        assert scan is not None
    assert_bits_in_step(store)


def test_a_mean_that_moves_away_has_all_bits_made_anew(store: Store) -> None:
    aside = ChosenVectors({f"m{n}": [5.0, n / 100] for n in range(400)}, name=MODEL.name, dimensions=70)
    remember(store, *(f"memory {n}" for n in range(60)))
    with embed_all(store, MODEL) as index:
        assert has_scan(index)
        with closing(open_for_writing(store)) as conn:
            before = conn.execute("SELECT build, mean FROM bit_head").get
            remember(store, *(f"m{n}" for n in range(400)))
            run_indexer(store, aside, SETTINGS)
            after = conn.execute("SELECT build, mean FROM bit_head").get
        assert before[0] != after[0]
        assert before[1] != after[1]
        assert found(index, "memory 5", 3) == by_all(store, index, "memory 5", 3)
    assert_bits_in_step(store)


DAMAGE = {
    "a table is gone": "DROP TABLE bit_rows",
    "all tables are gone": "DROP TABLE bit_rows; DROP TABLE bit_chunk; DROP TABLE bit_head",
    "a table of another make": "DROP TABLE bit_chunk; CREATE TABLE bit_chunk (chunk_id INTEGER PRIMARY KEY, x)",
    "a chunk's bits are gone": "DELETE FROM bit_rows",
    "a chunk is gone": "DELETE FROM bit_chunk",
    "they are of another model": "UPDATE bit_head SET model = 'other'",
    "they are of another length": "UPDATE bit_head SET dimensions = 8, mean = zeroblob(32)",
    "a slot too many": "UPDATE bit_chunk SET validity = CAST(x'ff' || substr(validity, 2) AS BLOB), seq = seq + 9",
    "half of a blob": "UPDATE bit_rows SET bits = substr(bits, 1, length(bits) / 2)",
    "numbers that are text": "UPDATE bit_chunk SET keys = 'what'",
    "other bits": "UPDATE bit_rows SET bits = zeroblob(length(bits))",
}


@pytest.mark.parametrize("sql", list(DAMAGE.values()), ids=list(DAMAGE))
def test_bits_that_are_wrong_are_noticed_and_said_and_mended(store: Store, sql: str) -> None:
    ids = remember(store, *(f"memory {n}" for n in range(1_100)))
    with embed_all(store, MODEL) as index:
        wanted = by_all(store, index, "memory 9", 5)
    with closing(open_for_writing(store)) as conn:
        conn.execute("UPDATE bit_head SET build = build + 1")
        if "validity" in sql:
            conn.execute(f"DELETE FROM {VECTORS} WHERE node_id = ?", (ids[0],))
        for statement in sql.split("; "):
            conn.execute(statement)
    with reopened(store) as index:
        if "validity" not in sql:
            assert found(index, "memory 9", 5) == wanted
        assert index.bits_fault is not None
        assert not has_scan(index)
        answer = hybrid_search(store, "memory", embedder=MODEL, index=index, alpha=1.0)
        assert any("slow way" in note for note in answer.notes)
        assert answer.hits
    check = examine(store, SETTINGS, is_thorough=True).check("vector-bits")
    assert check.state == "warn"
    run_indexer(store, MODEL, SETTINGS)
    with reopened(store) as index:
        assert has_scan(index)
        assert found(index, "memory 9", 5) == wanted
    assert_bits_in_step(store)
    assert examine(store, SETTINGS).check("vector-bits").state == "ok"


def reopened(store: Store) -> VectorIndex:
    index = open_vector_index(store)
    assert index is not None
    return index


def test_doctor_finds_a_single_wrong_bit_and_mends_it(store: Store, index: VectorIndex) -> None:
    with closing(open_for_writing(store)) as conn, conn.blob_open("main", "bit_rows", "bits", 1, True) as blob:
        first = blob.read(1)
        blob.seek(0)
        blob.write(bytes([first[0] ^ 1]))
    check = examine(store, SETTINGS, is_thorough=True).check("vector-bits")
    assert (check.state, check.fix) == ("warn", "tierdeck doctor --repair vector-bits")
    assert "chunk 1" in check.text
    assert repair(store, ["vector-bits"]).done == (
        ("vector-bits", "the bits of the vectors in 1 chunk were made anew"),
    )
    assert examine(store, SETTINGS, is_thorough=True).check("vector-bits").state == "ok"


def test_a_vec0_that_is_made_otherwise_searches_by_itself(store: Store, index: VectorIndex) -> None:
    wanted = found(index, "memory 9", 5)
    with closing(db.open_writer(index_path(store))) as conn:
        conn.execute(f"ALTER TABLE {VECTORS}_rowids ADD COLUMN extra")
        conn.execute("UPDATE bit_head SET build = build + 1, seq = seq + 1")
    assert found(index, "memory 9", 5) == wanted
    assert "not made as sqlite-vec 0.1.9 makes it" in str(index.bits_fault)


def test_vectors_that_do_not_lie_where_they_should_are_not_read(store: Store, index: VectorIndex) -> None:
    """The self-test: the last vector by vec0 is not the one in its slot."""
    wanted = found(index, "memory 9", 6)
    with closing(open_for_writing(store)) as conn:
        [(rowid, node_id, offset)] = conn.execute(
            f"SELECT rowid, id, chunk_offset FROM {VECTORS}_rowids ORDER BY rowid DESC LIMIT 1"
        ).fetchall()
        conn.execute(f"UPDATE {VECTORS}_rowids SET chunk_offset = ? WHERE rowid = ?", (int(str(offset)) - 1, rowid))
        conn.execute("UPDATE bit_head SET build = build + 1, seq = seq + 1")
    # The one that was moved has another's vector by now, and may be among the nearest or not.
    others = [[one for one in ids if one != node_id][:5] for ids in (wanted, found(index, "memory 9", 6))]
    assert others[0] == others[1]
    assert "not where sqlite-vec 0.1.9 puts it" in str(index.bits_fault)


def test_an_index_of_the_first_version_is_taken_over_with_its_vectors(store: Store, index: VectorIndex) -> None:
    index.close()
    with closing(open_for_writing(store)) as conn, conn:
        for table in BIT_TABLES:
            conn.execute(f"DROP TABLE {table}")
        set_setting(conn, "index_version", 1)
    with reopened(store) as old:
        assert found(old, "memory 9", 5) == by_all(store, old, "memory 9", 5)
        assert old.bits_fault == "they are not made yet"
        MODEL.asked.clear()
        assert run_indexer(store, MODEL, SETTINGS).embedded == 0
        assert MODEL.asked == []
        assert has_scan(old)
    with closing(open_for_writing(store)) as conn:
        assert get_setting(conn, "index_version") == 2
    assert_bits_in_step(store)


def test_a_scan_ends_when_nobody_waits_for_it(store: Store, index: VectorIndex) -> None:
    with pytest.raises(StoppedError), index.scanning(np.eye(70, dtype=np.float32)[0], lambda: True):
        pytest.fail("it went on")
    assert has_scan(index)  # nothing is left locked or open


WRITER = """
import sys
import pytest
from pathlib import Path
from tests.tierdeck.search.memories import ChosenVectors, remember
from tests.tierdeck.vectors.few_bits import begin_early
from tierdeck.config import EmbeddingSettings
from tierdeck.embed.indexer import run_indexer
from tierdeck.store import open_store
begin_early(pytest.MonkeyPatch())
model = ChosenVectors({}, dimensions=70)
with open_store(Path(sys.argv[1])) as store:
    print("ready", flush=True)
    for turn in range(10_000):
        ids = remember(store, *(f"{sys.argv[2]} {turn} {n}" for n in range(20)))
        with store.writing() as conn:
            conn.execute("UPDATE nodes SET content = content || '.' WHERE rowid % 7 = ?", (turn % 7,))
            conn.execute("DELETE FROM nodes WHERE rowid % 11 = ?", (turn % 11,))
        run_indexer(store, model, EmbeddingSettings(batch_rows=5))
"""


@pytest.mark.case("D13")
def test_two_processes_that_write_and_are_killed_leave_the_bits_in_step(store: Store, index: VectorIndex) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.path), name],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for name in ("one", "two")
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
        first = index_state(store)
        while index_state(store) < first + 12:  # committed writes of the bits
            answer = hybrid_search(store, "one", embedder=MODEL, index=index, alpha=1.0)
            assert answer.degraded is None
            assert all(hit.semantic is not None for hit in answer.hits)
            time.sleep(0.01)
    finally:
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
    assert index.bits_fault is None
    run_indexer(store, MODEL, SETTINGS, clock_ms=lambda: 10**14)  # their claims have run out
    assert_bits_in_step(store)
    assert found(index, "one 0 1", 5) == by_all(store, index, "one 0 1", 5)


def index_state(store: Store) -> int:
    with closing(db.open_index(index_path(store), is_writing=False)) as conn:
        row = conn.execute("SELECT seq FROM bit_head").fetchone()
        return 0 if row is None else int(str(row[0]))


def test_no_connection_is_left_in_a_transaction(store: Store, index: VectorIndex) -> None:
    """A read that stays open would keep the write-ahead log from being emptied."""
    hybrid_search(store, "memory", embedder=MODEL, index=index, node_filter=NodeFilter(min_confidence=0.1))
    remember(store, "more")
    run_indexer(store, MODEL, SETTINGS)
    with closing(open_for_writing(store)) as conn:
        assert db.empty_wal(conn)


@pytest.mark.parametrize("damage", ["DROP TABLE bit_rows", "DELETE FROM bit_rows", "SELECT 1"])
def test_a_purge_takes_the_bits_of_a_memory_too(store: Store, index: VectorIndex, damage: str) -> None:
    [gone] = found(index, "memory 7", 1)
    with closing(open_for_writing(store)) as conn:
        conn.execute(damage)
        chunk, offset = conn.execute(
            f"SELECT chunk_id, chunk_offset FROM {VECTORS}_rowids WHERE id = ?", (gone,)
        ).get
    report = purge(store, [gone], actor="t", reason="a secret")
    assert report.vectors == 1
    assert not [note for note in report.notes if "may still" in note]
    with closing(open_for_writing(store)) as conn, conn.blob_open("main", "bit_rows", "bits", chunk, False) as blob:
        blob.seek(16 * offset)  # 70 signs, in two words
        assert blob.read(16) == bytes(16)
    assert_bits_in_step(store, knows_rowids=damage == "SELECT 1")


def test_a_new_index_file_has_large_pages_and_a_map_of_them(store: Store, index: VectorIndex) -> None:
    """Without the map a vector at the end of a chunk costs a look at each page before it."""
    with closing(db.open_index(index_path(store), is_writing=False)) as conn:
        assert conn.pragma("page_size") == db.INDEX_PAGE_BYTES
        assert conn.pragma("auto_vacuum") == 2
