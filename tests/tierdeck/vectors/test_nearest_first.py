"""Candidates given nearest first: never twice, none that may not show, and as few compared as can be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tierdeck.vectors.nearest_first import Cosines, NearestFirst, Slots


class Compared:
    """The exact cosines, and which slots were asked for."""

    def __init__(self, cosines: Cosines) -> None:
        self.cosines = cosines
        self.slots: list[int] = []

    def __call__(self, slots: Slots) -> Cosines:
        assert (np.diff(slots) > 0).all(), "slots are asked for in their order"
        self.slots += slots.tolist()
        return self.cosines[slots]


def candidates(
    cosines: Cosines, error: float, seed: int = 0, may_show: NDArray[np.bool_] | None = None
) -> tuple[NearestFirst, Compared]:
    """Candidates whose estimates are off by as much as is said."""
    estimates = cosines + np.random.default_rng(seed).normal(scale=error, size=len(cosines)).astype(np.float32)
    order = np.argsort(-estimates, kind="stable")
    compared = Compared(cosines)
    shown = None if may_show is None else lambda slots: may_show[slots]
    return NearestFirst(order, estimates[order], error, compared, shown), compared


def drawn(rows: int, seed: int = 1) -> Cosines:
    return np.random.default_rng(seed).normal(scale=0.1, size=rows).astype(np.float32)


@given(st.integers(0, 400), st.lists(st.integers(1, 90), min_size=1, max_size=8), st.integers(0, 99), st.booleans())
def test_each_candidate_that_may_show_comes_once_with_its_cosine(
    rows: int, counts: list[int], seed: int, has_filter: bool
) -> None:
    cosines, rng = drawn(rows, seed), np.random.default_rng(seed)
    may_show = rng.random(rows) < 0.3 if has_filter else np.ones(rows, np.bool_)
    nearest, compared = candidates(cosines, 0.02, seed, may_show if has_filter else None)
    given_slots: list[int] = []
    for count in [*counts, rows + 1]:
        slots, exact = nearest.next(count)
        assert len(slots) <= count
        assert (exact == cosines[slots]).all()
        assert (np.diff(exact) <= 0).all()
        given_slots += slots.tolist()
    assert sorted(given_slots) == np.flatnonzero(may_show).tolist()
    assert sorted(compared.slots) == sorted(given_slots)


def test_the_nearest_are_found_by_comparing_few() -> None:
    missed, read = 0, 0
    for seed in range(20):
        cosines = drawn(20_000, seed)
        nearest, compared = candidates(cosines, 0.015, seed)
        slots, _ = nearest.next(50)
        missed += len(set(np.argsort(-cosines)[:50].tolist()) - set(slots.tolist()))
        read += len(compared.slots)
    assert missed <= 20 * 50 // 100
    assert read < 20 * 400


def test_estimates_that_are_all_too_low_are_noticed() -> None:
    """As of a model whose numbers are spread otherwise than by chance."""
    missed = 0
    for seed in range(10):
        cosines = drawn(5_000, seed)
        estimates = cosines - np.float32(0.1)
        estimates += np.random.default_rng(seed).normal(scale=0.03, size=5_000).astype(np.float32)
        order = np.argsort(-estimates)
        slots, _ = NearestFirst(order, estimates[order], 0.005, Compared(cosines)).next(50)
        missed += len(set(np.argsort(-cosines)[:50].tolist()) - set(slots.tolist()))
    assert missed <= 10


def test_what_only_has_to_be_given_need_not_be_sure() -> None:
    cosines = drawn(5_000)
    (sure, all_read), (unsure, some_read) = candidates(cosines, 0.02), candidates(cosines, 0.02)
    assert len(sure.next(60)[0]) == len(unsure.next(60, 40)[0]) == 60
    assert len(some_read.slots) < len(all_read.slots)


def test_equal_cosines_come_in_the_order_of_their_estimates() -> None:
    slots = np.arange(300)[::-1].copy()
    nearest = NearestFirst(slots, np.zeros(300, np.float32), 0.01, Compared(np.zeros(300, np.float32)))
    assert nearest.next(5)[0].tolist() == [299, 298, 297, 296, 295]


def test_no_candidates_give_nothing() -> None:
    nearest, compared = candidates(np.zeros(0, np.float32), 0.1)
    assert len(nearest) == 0
    assert nearest.next(3)[0].tolist() == []
    assert compared.slots == []
