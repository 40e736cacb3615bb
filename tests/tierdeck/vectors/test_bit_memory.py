"""The bits in memory through any sequence of chunks that come, change and go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tierdeck.errors import StoppedError
from tierdeck.vectors.bit_memory import BitMemory
from tierdeck.vectors.chunk_blobs import CHUNK_SLOTS
from tierdeck.vectors.query_planes import QueryPlanes
from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.sign_bits import scales_of, scores_by_signs, sign_bits


def mean_of(dimensions: int) -> NDArray[np.float32]:
    return np.full(dimensions, 0.01, np.float32)


def put(memory: BitMemory, chunk_id: int, seed: int) -> dict[int, NDArray[np.float32]]:
    """Put a chunk into the memory; the vectors by vec0's numbers, which are unlike those of any other chunk."""
    rng = np.random.default_rng(seed)
    mean = memory.mean
    vectors = rng.standard_normal((CHUNK_SLOTS, len(mean))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    validity = rng.random(CHUNK_SLOTS) < 0.01
    numbers = np.arange(CHUNK_SLOTS) + CHUNK_SLOTS * chunk_id
    memory.put(chunk_id, sign_bits(vectors, mean), validity, numbers, 2 * numbers, scales_of(vectors, mean))
    return {int(number): vectors[at] for at, number in enumerate(numbers) if validity[at]}


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.booleans(), st.integers(0, 99)), max_size=12),
    st.integers(1, 2),
    st.sampled_from([70, 1_030]),  # few signs, which are all gone through, and many, of which half are
)
def test_what_is_held_is_what_was_put_last_and_not_dropped(
    steps: list[tuple[int, bool, int]], segment: int, dimensions: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:  # so that a few chunks fill several segments
        patch.setattr("tierdeck.vectors.bit_memory._MIN_SEGMENT_CHUNKS", segment)
        patch.setattr("tierdeck.vectors.bit_memory._MAX_SEGMENT_CHUNKS", segment)
        patch.setattr("tierdeck.vectors.bit_memory._SLOTS_AT_ONCE", 7)
        memory = BitMemory(mean_of(dimensions))
        held: dict[int, dict[int, NDArray[np.float32]]] = {}
        for chunk_id, is_put, seed in steps:
            if is_put:
                held[chunk_id] = put(memory, chunk_id, seed)
            elif chunk_id in held:
                memory.drop(chunk_id)
                del held[chunk_id]
        wanted = {number: vector for chunk in held.values() for number, vector in chunk.items()}
        scores = np.empty(memory.slots_count, np.float32)
        differing = np.empty(memory.slots_count, np.uint16)
        query = np.full(dimensions, dimensions**-0.5, np.float32)
        memory.scores(QueryPlanes(query, memory.mean), ScanBuffers(), differing, scores)
        slots = np.flatnonzero(scores > -np.inf)
        (chunks, offsets), numbers = memory.placed(slots), memory.numbers(slots)
        assert sorted(memory.chunks) == sorted(held)
        assert memory.vectors_count == len(wanted)
        assert sorted(numbers.tolist()) == sorted(wanted)
        assert (chunks * CHUNK_SLOTS + offsets == numbers).all()
        assert (memory.keys(slots) == 2 * numbers).all()
        assert (memory.keys()[slots] == memory.keys(slots)).all()
        for slot, number in zip(slots.tolist(), numbers.tolist(), strict=True):
            assert (memory.bits_at(slot) == sign_bits(wanted[number][None, :], memory.mean)[0]).all()
        assert memory.last_slot() == (slots[-1] if len(slots) else None)
        vectors = np.array([wanted[number] for number in numbers.tolist()], np.float32).reshape(-1, dimensions)
        assert_estimates_are_of(vectors, query, memory, slots, differing[slots])


def assert_estimates_are_of(
    vectors: NDArray[np.float32],
    query: NDArray[np.float32],
    memory: BitMemory,
    slots: NDArray[np.intp],
    differing: NDArray[np.uint16],
) -> None:
    """The estimates of slots are those of the vectors themselves, wherever their words lie."""
    mean, bits = memory.mean, sign_bits(vectors, memory.mean)
    scales, signs = scales_of(vectors, mean).T, np.empty(len(vectors), np.float32)
    planes, buffers = QueryPlanes(query, mean), ScanBuffers()
    apart = np.bitwise_count(bits ^ planes.signs).sum(axis=1, dtype=np.uint16)
    scores_by_signs(apart, len(mean), scales, planes.distance, signs)
    if memory.are_halved:
        assert memory.closer_scores(slots, differing, planes, buffers) == pytest.approx(signs, abs=1e-6)
    else:
        assert (differing == apart).all()
    wanted = planes.cosines(bits.T, scales, buffers)
    assert memory.cosines(slots, planes, buffers) == pytest.approx(wanted, abs=1e-6)


def test_a_scan_stops_when_nobody_waits_for_it_any_more() -> None:
    memory = BitMemory(mean_of(70))
    put(memory, 1, 1)
    differing, scores = np.empty(CHUNK_SLOTS, np.uint16), np.empty(CHUNK_SLOTS, np.float32)
    with pytest.raises(StoppedError):
        memory.scores(QueryPlanes(memory.mean, memory.mean), ScanBuffers(), differing, scores, lambda: True)
