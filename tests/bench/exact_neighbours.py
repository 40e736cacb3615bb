"""The true nearest memories of every query under every filter, and how much of them somebody found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tests.bench.search_narrowing import Mask

WANTED = 50
_BLOCK_ROWS = 32_768
Numbers = NDArray[np.int64]


def exact_nearest(
    vectors: NDArray[np.float32], queries: NDArray[np.float32], masks: Mapping[str, Mask]
) -> dict[str, list[Numbers]]:
    """For each filter and query the numbers of the `WANTED` nearest rows by raw cosine, best first.

    Fewer where the filter leaves fewer.
    """
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
    return {name: list(rows) for name, (_, rows) in best.items()}


def recall(found: Sequence[int], right: Numbers, cut: int) -> float:
    """The part of the true first `cut` that stands among the first `cut` found; 1 where there is none."""
    wanted = set(right[:cut].tolist())
    return len(wanted & set(found[:cut])) / len(wanted) if wanted else 1.0


def _top(scores: NDArray[np.float32], rows: Numbers) -> tuple[NDArray[np.float32], Numbers]:
    order = np.argsort(-scores, axis=1, kind="stable") if scores.shape[1] <= 2 * WANTED else _partition(scores)
    order = order[:, :WANTED]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)


def _partition(scores: NDArray[np.float32]) -> Numbers:
    """The places of the best, sorted; sorting all of them would take most of the time."""
    places = np.argpartition(-scores, WANTED, axis=1)[:, :WANTED]
    order = np.argsort(-np.take_along_axis(scores, places, axis=1), axis=1, kind="stable")
    found: Numbers = np.take_along_axis(places, order, axis=1)
    return found
