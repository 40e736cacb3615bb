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
from tierdeck.vectors.sign_bits import scales_of, sign_bits

DIMENSIONS = 70
MEAN = np.full(DIMENSIONS, 0.01, np.float32)


def put(memory: BitMemory, chunk_id: int, seed: int) -> dict[int, NDArray[np.float32]]:
    """Put a chunk into the memory; the vectors by vec0's numbers, which are unlike those of any other chunk."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((CHUNK_SLOTS, DIMENSIONS)).astype(np.float32)
    validity = rng.random(CHUNK_SLOTS) < 0.01
    numbers = np.arange(CHUNK_SLOTS) + CHUNK_SLOTS * chunk_id
    memory.put(chunk_id, sign_bits(vectors, MEAN), validity, numbers, 2 * numbers, scales_of(vectors, MEAN))
    return {int(number): vectors[at] for at, number in enumerate(numbers) if validity[at]}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.booleans(), st.integers(0, 99)), max_size=12), st.integers(1, 2))
def test_what_is_held_is_what_was_put_last_and_not_dropped(
    steps: list[tuple[int, bool, int]], segment: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:  # so that a few chunks fill several segments
        patch.setattr("tierdeck.vectors.bit_memory._SEGMENT_CHUNKS", segment)
        patch.setattr("tierdeck.vectors.bit_memory._SEGMENT_SLOTS", segment * CHUNK_SLOTS)
        memory = BitMemory(MEAN)
        held: dict[int, dict[int, NDArray[np.float32]]] = {}
        for chunk_id, is_put, seed in steps:
            if is_put:
                held[chunk_id] = put(memory, chunk_id, seed)
            elif chunk_id in held:
                memory.drop(chunk_id)
                del held[chunk_id]
        wanted = {number: vector for chunk in held.values() for number, vector in chunk.items()}
        scores = np.empty(memory.slots_count, np.float32)
        memory.scores(MEAN + np.float32(1), np.empty(memory.slots_count, np.uint16), scores)
        slots = np.flatnonzero(scores > -np.inf)
        (chunks, offsets), numbers = memory.placed(slots), memory.numbers(slots)
        assert sorted(memory.chunks) == sorted(held)
        assert memory.vectors_count == len(wanted)
        assert sorted(numbers.tolist()) == sorted(wanted)
        assert (chunks * CHUNK_SLOTS + offsets == numbers).all()
        assert (memory.keys(slots) == 2 * numbers).all()
        assert (memory.keys()[slots] == memory.keys(slots)).all()
        for slot, number in zip(slots.tolist(), numbers.tolist(), strict=True):
            assert (memory.bits_at(slot) == sign_bits(wanted[number][None, :], MEAN)[0]).all()
        assert memory.last_slot() == (slots[-1] if len(slots) else None)


def test_a_scan_stops_when_nobody_waits_for_it_any_more() -> None:
    memory = BitMemory(MEAN)
    put(memory, 1, 1)
    differing, scores = np.empty(CHUNK_SLOTS, np.uint16), np.empty(CHUNK_SLOTS, np.float32)
    with pytest.raises(StoppedError):
        memory.scores(MEAN, differing, scores, lambda: True)
