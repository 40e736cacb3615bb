"""Signs of vectors, how many differ, and which slots that leaves: against the plain way to say it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.sign_bits import (
    best_slots,
    differing_bits,
    scales_of,
    scores_by_signs,
    sign_bits,
    words_of,
)


def drawn(seed: int, rows: int, dimensions: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def counted(vectors: NDArray[np.float32], query: NDArray[np.float32], mean: NDArray[np.float32]) -> list[int]:
    words = np.ascontiguousarray(sign_bits(vectors, mean).T)
    found = np.empty(len(vectors), np.uint16)
    differing_bits(words, sign_bits(query[None, :], mean)[0], ScanBuffers(), found)
    return [int(count) for count in found]


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 200))
def test_as_many_signs_differ_as_there_are_numbers_on_other_sides_of_the_mean(
    seed: int, rows: int, dimensions: int
) -> None:
    vectors = drawn(seed, rows + 1, dimensions)
    mean = vectors.mean(axis=0)
    query = vectors[-1]
    wanted = [int(((one > mean) != (query > mean)).sum()) for one in vectors[:-1]]
    assert counted(vectors[:-1], query, mean) == wanted


@pytest.mark.parametrize("block", [1, 7, 16, 1000])
def test_the_blocks_of_a_scan_leave_out_no_slot(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, mean = drawn(3, 50, 100), np.zeros(100, np.float32)
    whole = counted(vectors, vectors[0], mean)
    for name in ("_BLOCK_SLOTS", "_BLOCK_WORDS"):
        monkeypatch.setattr(f"tierdeck.vectors.sign_bits.{name}", block)
        assert counted(vectors, vectors[0], mean) == whole
    assert whole[0] == 0


@pytest.mark.parametrize(("dimensions", "words"), [(1, 1), (8, 1), (64, 1), (65, 2), (256, 4), (1536, 24)])
def test_signs_take_a_bit_each_in_words_of_64(dimensions: int, words: int) -> None:
    assert words_of(dimensions) == words
    assert sign_bits(drawn(1, 3, dimensions), np.zeros(dimensions, np.float32)).shape == (3, words)


@given(st.integers(0, 2**32), st.integers(2, 64))
def test_the_fewer_signs_differ_the_higher_is_the_score_of_vectors_as_far_from_the_mean(
    seed: int, dimensions: int
) -> None:
    vectors, distance = drawn(seed, 1, dimensions), 0.7
    differing = np.arange(dimensions + 1, dtype=np.uint16)
    scales = np.repeat(scales_of(vectors, np.zeros(dimensions, np.float32)).T, dimensions + 1, axis=1)
    found = np.empty(dimensions + 1, np.float32)
    scores_by_signs(differing, dimensions, scales, distance, found)
    assert (np.diff(found) < 0).all()
    assert found[0] == pytest.approx(-found[-1], abs=1e-5)  # the opposite side


def test_scores_follow_the_exact_cosines_of_long_vectors() -> None:
    vectors = drawn(5, 2_000, 512) + np.float32(0.05)  # crowded on one side of the origin
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    mean, query = vectors.mean(axis=0), vectors[7]
    differing = np.array(counted(vectors, query, mean), np.uint16)
    found = np.empty(len(vectors), np.float32)
    scores_by_signs(differing, 512, scales_of(vectors, mean).T, float(np.linalg.norm(query - mean)), found)
    found += mean @ query - mean @ mean
    assert np.abs(np.delete(found - vectors @ query, 7)).max() < 0.2
    assert int(np.argmax(found)) == 7
    assert np.corrcoef(found, vectors @ query)[0, 1] > 0.6


_SCORES = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1.0]), max_size=40)


@given(_SCORES, st.integers(-1, 50))
def test_the_best_slots_are_the_largest_and_all_that_equal_the_last_of_them(scores: list[float], rows: int) -> None:
    found = best_slots(np.array(scores, np.float32), rows).tolist()
    there = sorted((score for score in scores if score > -np.inf), reverse=True)
    least = there[: max(0, rows)][-1:] or [np.inf]
    assert found == [slot for slot, score in enumerate(scores) if score >= least[0]]
