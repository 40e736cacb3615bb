"""Buffers that scans share: never two of them at once, and nothing that was given lies in one."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from tests.tierdeck.search.memories import ChosenVectors, embed_all, remember
from tests.tierdeck.vectors.few_bits import begin_early
from tierdeck.store import Store
from tierdeck.vectors.bit_scan import BitScan
from tierdeck.vectors.scan_buffers import ScanBuffers, SpareBuffers
from tierdeck.vectors.vector_index import VectorIndex

DIMENSIONS = 1_100
MODEL = ChosenVectors({}, dimensions=DIMENSIONS)


@pytest.fixture
def index(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[VectorIndex]:
    begin_early(monkeypatch)
    remember(store, *(f"memory {n}" for n in range(400)))
    with embed_all(store, MODEL) as opened:
        yield opened


def query(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = MODEL.embed([text])[0]
    unit: np.ndarray[tuple[int], np.dtype[np.float32]] = vector / np.linalg.norm(vector)
    return unit


def best(scan: BitScan, rows: int) -> tuple[list[str], list[float]]:
    slots, cosines = scan.candidates(scan.enough_for(rows)).next(rows)
    return scan.ids(slots), cosines.tolist()


def test_room_for_the_same_grows_and_is_used_again() -> None:
    buffers = ScanBuffers()
    first = buffers.room("vectors", np.float32, 3, 5)
    assert first.shape == (3, 5)
    assert first.dtype == np.dtype(np.float32)
    assert np.shares_memory(first, buffers.room("vectors", np.uint16, 1, 15))
    assert not np.shares_memory(first, buffers.room("scores", np.float32, 3, 5))
    assert not np.shares_memory(first, buffers.room("vectors", np.float32, 4, 5))
    kept = buffers.room("scores", np.float32, 1_000)
    assert np.shares_memory(kept, buffers.room("scores", np.float32, 1_050))


def test_what_is_lent_is_lent_to_one_only_and_comes_back() -> None:
    spare = SpareBuffers()
    with spare.lent() as one, spare.lent() as two:
        assert one is not two
    with spare.lent() as three:
        assert three is one
    with pytest.raises(ZeroDivisionError), spare.lent() as four:
        _ = 1 / 0
    with spare.lent() as five:
        assert five is four


def test_threads_that_scan_one_index_get_each_its_own_answer(index: VectorIndex) -> None:
    texts = [f"memory {n}" for n in range(0, 400, 7)]
    alone = {text: index.nearest(query(text), 12) for text in texts}
    wrong: list[str] = []
    begin = threading.Barrier(4)

    def look(first: int) -> None:
        begin.wait()
        mine = texts[first:] + texts[:first]
        wrong.extend(text for text in mine if index.nearest(query(text), 12) != alone[text])

    threads = [threading.Thread(target=look, args=(11 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert all(found[0][1] == pytest.approx(1.0, abs=1e-5) for found in alone.values())


def test_a_scan_within_a_scan_does_not_change_what_the_outer_one_finds(index: VectorIndex) -> None:
    with index.scanning(query("memory 3")) as outer:
        assert outer is not None
        begun = outer.candidates(300)
        first = begun.next(5)
        wanted = best(outer, 9)
        inner = index.nearest(query("memory 200"), 9)
        assert best(outer, 9) == wanted
        assert begun.next(4)[1].tolist() == wanted[1][5:]
        assert first[1].tolist() == wanted[1][:5]
    assert inner == index.nearest(query("memory 200"), 9)


def test_a_slot_without_a_vector_is_no_candidate_even_where_it_is_allowed(index: VectorIndex) -> None:
    with index.scanning(query("memory 3")) as scan:
        assert scan is not None
        empty_first = np.r_[np.arange(10), np.arange(400, scan.slots_count)]  # 400 of 1,024 slots hold one
        for rows in (5, 300, 2_000):
            slots, _ = scan.candidates(rows, empty_first).next(50)
            assert set(slots.tolist()) <= set(range(10))
            assert len(slots) == min(rows, 10)


def test_what_a_scan_gave_stays_when_the_next_one_begins(index: VectorIndex) -> None:
    with index.scanning(query("memory 3")) as scan:
        assert scan is not None
        slots, cosines = scan.candidates(300).next(20)
        keys, numbers = scan.keys(), scan.numbers(slots)
    copies = [one.copy() for one in (slots, cosines, keys, numbers)]
    for n in range(5):
        index.nearest(query(f"memory {n}"), 50)
    assert all((one == copy).all() for one, copy in zip((slots, cosines, keys, numbers), copies, strict=True))


def test_the_nearest_of_long_vectors_are_found_by_half_of_their_signs(
    index: VectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So few candidates that half of the signs leave half of the memories out, and all of them nine tenths."""
    monkeypatch.setattr("tierdeck.vectors.bit_scan._MIN_CANDIDATES", 20)
    monkeypatch.setattr("tierdeck.vectors.bit_scan._CANDIDATES_PER_ROW", 1)
    for n in range(0, 400, 40):
        near = query(f"memory {n}") + np.float32(0.5) * query(f"memory {n + 1}")
        near /= np.linalg.norm(near)
        with index.scanning(near) as scan:
            assert scan is not None
            assert len(scan.candidates(scan.enough_for(2))) == 20
            ids, cosines = best(scan, 2)
        vectors = index.vectors(ids)
        assert cosines == pytest.approx([float(vectors[node_id] @ near) for node_id in ids], abs=1e-6)
        assert min(cosines) > 0.3  # drawn ones are at 0 ± 0.03
