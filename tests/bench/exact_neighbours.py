"""The true nearest memories of every query under every filter, and how much of them somebody found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.bench.search_narrowing import Mask

WANTED = 50
_BLOCK_ROWS = 32_768
# Of a million memories some hundred have the same text, and with it the same cosine.
_KEPT = 4 * WANTED
_ROUNDING = 1e-6
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest rows of one query, best first, more than anybody is asked for; with their cosines."""

    numbers: Numbers
    cosines: NDArray[np.float32]


def exact_nearest(
    vectors: NDArray[np.float32], queries: NDArray[np.float32], masks: Mapping[str, Mask]
) -> dict[str, list[Nearest]]:
    """For each filter and query the nearest rows by raw cosine; fewer where the filter leaves fewer."""
    best = {
        name: (np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)) for name in masks
    }
    for first in range(0, len(vectors), _BLOCK_ROWS):
        block = slice(first, first + _BLOCK_ROWS)
        cosines = queries @ vectors[block].T
        for name, mask in masks.items():
            numbers = np.flatnonzero(mask[block])
            scores = np.concatenate([best[name][0], cosines[:, numbers]], axis=1)
            rows = np.broadcast_to(numbers + first, (len(queries), len(numbers)))
            best[name] = _top(scores, np.concatenate([best[name][1], rows], axis=1))
    return {
        name: [Nearest(*pair) for pair in zip(rows, cosines, strict=True)] for name, (cosines, rows) in best.items()
    }


def recall(found: Sequence[int], right: Nearest, cut: int) -> float:
    """The part of the first `cut` found that are as near as the true ones; 1 where there is none.

    Of rows that are equally near any is as good as another.
    """
    wanted = min(cut, len(right.numbers))
    if not wanted:
        return 1.0
    as_near = set(right.numbers[right.cosines >= right.cosines[wanted - 1] - _ROUNDING].tolist())
    return len(as_near & set(found[:cut])) / wanted


def _top(scores: NDArray[np.float32], rows: Numbers) -> tuple[NDArray[np.float32], Numbers]:
    order = np.argsort(-scores, axis=1, kind="stable") if scores.shape[1] <= 2 * _KEPT else _partition(scores)
    order = order[:, :_KEPT]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)


def _partition(scores: NDArray[np.float32]) -> Numbers:
    """The places of the best, sorted; sorting all of them would take most of the time."""
    places = np.argpartition(-scores, _KEPT, axis=1)[:, :_KEPT]
    order = np.argsort(-np.take_along_axis(scores, places, axis=1), axis=1, kind="stable")
    found: Numbers = np.take_along_axis(places, order, axis=1)
    return found
