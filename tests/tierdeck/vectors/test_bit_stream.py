"""The bits gone through in the file find what those in memory find, until a thread has loaded them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember
from tests.tierdeck.vectors.few_bits import begin_early
from tests.waiting import until
from tierdeck.errors import StoppedError
from tierdeck.index.file import open_for_writing
from tierdeck.model import NodeChanges
from tierdeck.store import Store
from tierdeck.store.changes import edit_node
from tierdeck.vectors.bit_memory import BitMemory
from tierdeck.vectors.bit_stream import BitStream
from tierdeck.vectors.bits import Bits
from tierdeck.vectors.held_bits import brought_up, read_head
from tierdeck.vectors.query_planes import QueryPlanes
from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.vector_index import VectorIndex

MODEL = ChosenVectors({}, dimensions=1_100)
ROWS = 1_100  # two chunks


@pytest.fixture(autouse=True)
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    begin_early(monkeypatch)
    monkeypatch.setattr("tierdeck.vectors.bit_follower._STREAM_FROM_CHUNKS", 1)


@pytest.fixture
def index(store: Store) -> Iterator[VectorIndex]:
    remember(store, *(f"memory {n}" for n in range(ROWS)))
    with embed_all(store, MODEL) as opened:
        yield opened


def query(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = MODEL.embed([text])[0]
    unit: np.ndarray[tuple[int], np.dtype[np.float32]] = vector / np.linalg.norm(vector)
    return unit


def bits_of(index: VectorIndex) -> Bits | None:
    with index.snapshot():
        return index._bits()


def wait_for_memory(index: VectorIndex) -> BitMemory:
    until(lambda: isinstance(bits_of(index), BitMemory))
    bits = bits_of(index)
    assert isinstance(bits, BitMemory)
    return bits


def test_the_file_says_of_every_slot_what_memory_says(index: VectorIndex) -> None:
    planes, buffers = QueryPlanes(query("memory 7"), np.zeros(1_100, np.float32)), ScanBuffers()
    with index.snapshot():
        head = read_head(index._conn)
        assert head is not None
        stream, memory = BitStream(index._conn, head.mean), brought_up(index._conn, head, None).memory
        assert stream.slots_count == memory.slots_count == 2_048
        assert stream.last_slot() == memory.last_slot() == ROWS - 1
        assert (stream.keys() == memory.keys()).all()
        assert (stream.numbers() == memory.numbers()).all()
        slots = np.array([1_030, 3, 1_024, 900, 1_023])  # in no order
        assert (stream.keys(slots) == memory.keys(slots)).all()
        assert (stream.numbers(slots) == memory.numbers(slots)).all()
        assert [part.tolist() for part in stream.placed(slots)] == [part.tolist() for part in memory.placed(slots)]
        assert (stream.bits_at(1_030) == memory.bits_at(1_030)).all()
        slots = np.array([3, 900, 1_023, 1_024, 1_030, ROWS, 2_047])  # the last two hold no vector
        assert stream.cosines(slots, planes, buffers) == pytest.approx(memory.cosines(slots, planes, buffers))
        scores, differing = np.empty(2_048, np.float32), np.empty(2_048, np.uint16)
        stream.scores(planes, buffers, differing, scores)
        assert np.flatnonzero(scores > -np.inf).tolist() == list(range(ROWS))
        half = np.empty(2_048, np.uint16)
        memory.scores(planes, buffers, half, np.empty(2_048, np.float32))
        closer = memory.closer_scores(np.arange(ROWS), half[:ROWS], planes, buffers)
        assert scores[:ROWS] == pytest.approx(closer, abs=1e-6)


def test_a_search_through_the_file_stops_when_nobody_waits_for_it(index: VectorIndex) -> None:
    planes = QueryPlanes(query("memory 7"), np.zeros(1_100, np.float32))
    with index.snapshot():
        stream = bits_of(index)
        assert isinstance(stream, BitStream)
        with pytest.raises(StoppedError):
            stream.scores(
                planes, ScanBuffers(), np.empty(2_048, np.uint16), np.empty(2_048, np.float32), lambda: True
            )


def test_the_first_search_loads_nothing_and_the_second_has_it_loaded(index: VectorIndex) -> None:
    first = index.nearest(query("memory 9"), 20)
    assert isinstance(bits_of(index), BitStream)
    assert index._follower is not None
    assert index._follower._loader is None
    assert index.nearest(query("memory 9"), 20) == first
    memory = wait_for_memory(index)
    assert memory.vectors_count == ROWS
    assert index.nearest(query("memory 9"), 20) == first
    ids = [node_id for node_id, _ in first]
    assert index.nearest(query("memory 9"), 20, ids) == first
    assert index.bits_fault is None


def test_what_is_written_before_and_while_the_bits_are_loaded_is_found(store: Store, index: VectorIndex) -> None:
    index.nearest(query("memory 9"), 5)
    for round_number in range(4):
        text = f"written in round {round_number}"
        [added] = remember(store, text)
        edited = index.nearest(query("memory 9"), 1)[0][0]
        edit_node(store, edited, NodeChanges(content=f"memory 9, {round_number}"), actor="t")
        embed_all(store, MODEL).close()
        assert index.nearest(query(text), 1)[0][0] == added
        assert index.nearest(query(f"memory 9, {round_number}"), 1)[0][0] == edited
        edit_node(store, edited, NodeChanges(content="memory 9"), actor="t")
        embed_all(store, MODEL).close()
    assert wait_for_memory(index).vectors_count == ROWS + 4


def test_closing_ends_the_loading(index: VectorIndex) -> None:
    for _ in range(2):
        index.nearest(query("memory 9"), 5)
    assert index._follower is not None
    loader = index._follower._loader
    assert loader is not None
    index.close()
    assert loader.is_over


def test_bits_out_of_step_are_not_gone_through(store: Store, index: VectorIndex) -> None:
    wanted = index.nearest(query("memory 9"), 5)
    with closing(open_for_writing(store)) as conn:
        conn.execute("UPDATE bit_chunk SET validity = zeroblob(128) WHERE chunk_id = 2")
    assert [one for one, _ in index.nearest(query("memory 9"), 5)] == [one for one, _ in wanted]
    assert index.bits_fault == "they are out of step in chunk 2"
