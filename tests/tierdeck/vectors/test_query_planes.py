"""A query's numbers against signs: counted in planes as multiplied one by one, and nearer than signs to signs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.tierdeck.vectors.test_sign_bits import counted, drawn
from tierdeck.vectors.query_planes import QueryPlanes
from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.sign_bits import scales_of, scores_by_signs, sign_bits


def by_planes(
    query: NDArray[np.float32], vectors: NDArray[np.float32], mean: NDArray[np.float32]
) -> NDArray[np.float32]:
    words = np.ascontiguousarray(sign_bits(vectors, mean).T)
    return QueryPlanes(query, mean).cosines(words, scales_of(vectors, mean).T, ScanBuffers())


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(2, 300))
def test_the_planes_give_what_multiplying_gives(seed: int, rows: int, dimensions: int) -> None:
    vectors = drawn(seed, rows + 1, dimensions)
    query, vectors = vectors[-1], vectors[:-1]
    mean = vectors.mean(axis=0) / 2
    aside, signs = query - mean, np.where(vectors > mean, 1.0, -1.0)
    distances = np.linalg.norm(vectors - mean, axis=1)
    wanted = distances * (signs @ aside) * (np.pi / 2) ** 0.5 / dimensions**0.5 + vectors @ mean
    wanted += query @ mean - mean @ mean
    # No number is off by more than half a level of 31.
    level = 2 * float(np.abs(aside).max()) / 31
    most = level / 2 * dimensions**0.5 * (np.pi / 2) ** 0.5 * distances
    assert (np.abs(by_planes(query, vectors, mean) - wanted) <= most + 1e-5).all()


def test_the_estimate_is_as_near_as_is_said_and_nearer_than_by_signs_alone() -> None:
    vectors = drawn(5, 3_000, 512) + np.float32(0.05)  # crowded on one side of the origin
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    mean, query = vectors.mean(axis=0), vectors[7]
    exact = np.delete(vectors @ query, 7)
    apart = np.delete(by_planes(query, vectors, mean), 7) - exact
    scales, signs = scales_of(vectors, mean).T, np.empty(len(vectors), np.float32)
    planes = QueryPlanes(query, mean)
    scores_by_signs(np.array(counted(vectors, query, mean), np.uint16), 512, scales, planes.distance, signs)
    apart_by_signs = np.delete(signs, 7) + mean @ query - mean @ mean - exact
    said = planes.error * float(scales[0].mean())
    assert float(apart.std()) == pytest.approx(said, rel=0.15)
    assert apart.std() < 0.8 * apart_by_signs.std()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_query_whose_numbers_are_all_the_same_has_estimates_too(value: float) -> None:
    query = np.full(64, value / 8, np.float32)
    found = by_planes(query, drawn(1, 5, 64), np.zeros(64, np.float32))
    assert np.isfinite(found).all()


def test_one_number_that_is_far_above_the_others_leaves_the_estimate_useful() -> None:
    vectors = drawn(2, 2_000, 768)
    query = vectors[0].copy()
    query[5] = 0.6
    query /= np.linalg.norm(query)
    found = by_planes(query, vectors, vectors.mean(axis=0))
    assert int(np.argmax(found)) == 0
