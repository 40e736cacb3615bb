"""Ways to bring two scores to one, beside the one in use: each scores the same candidates of one query.

A candidate has a keyword score (0..1, 0 where no word matches), its cosine to the query, and the centred one. All
but the rank forms work on the filled union of both sides' best; none but ours is bounded and free of what else was
found at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RRF_K = 60
OWN_LIST = 50


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of one query's candidates, in one order, (n,) each.

    `words` is 0 where no word matches. `directed` are centred cosines without the store's principal directions, by
    how many of them were taken out.
    """

    words: Floats
    cosines: Floats
    centred: Floats
    directed: Mapping[int, Floats]


def ours(sides: Sides, alpha: float) -> Floats:
    """The centred cosine, cut at 0, and bm25 over the best."""
    return _sum(np.maximum(sides.centred, 0.0), sides.words, alpha)


def half_up(sides: Sides, alpha: float) -> Floats:
    """(1 + cosine) / 2."""
    return _sum((1 + sides.cosines) / 2, sides.words, alpha)


def min_max_union(sides: Sides, alpha: float) -> Floats:
    """Both sides stretched to 0..1 over the union."""
    return _sum(_stretched(sides.centred), _stretched(sides.words), alpha)


def min_max_own(sides: Sides, alpha: float) -> Floats:
    """Each side stretched over its own best, 0 for what only the other found."""
    meaning, words = _own(sides.centred), _own(sides.words)
    return _sum(meaning, np.where(sides.words > 0, words, 0.0), alpha)


def z_score(sides: Sides, alpha: float) -> Floats:
    """Both sides in standard deviations from their mean over the union."""
    return _sum(_standard(sides.centred), _standard(sides.words), alpha)


def reciprocal_ranks(sides: Sides, alpha: float) -> Floats:
    """1 / (60 + rank), of each side's own best."""
    meaning = 1 / (RRF_K + _ranks(sides.centred))
    words = np.where(sides.words > 0, 1 / (RRF_K + _ranks(sides.words)), 0.0)
    return _sum(meaning, words, alpha)


def without_directions(count: int) -> Callable[[Sides, float], Floats]:
    """Ours, where the store's first principal directions count for nothing."""
    return lambda sides, alpha: _sum(np.maximum(sides.directed[count], 0.0), sides.words, alpha)


DIRECTIONS = (1, 3)
FORMS: Mapping[str, Callable[[Sides, float], Floats]] = {
    "centred cosine, bm25 over the best (ours)": ours,
    "(1 + cosine) / 2": half_up,
    "min-max over the filled union": min_max_union,
    "min-max over each own list": min_max_own,
    "z-score over the filled union": z_score,
    "reciprocal ranks, k = 60": reciprocal_ranks,
    **{f"ours without {count} principal direction(s)": without_directions(count) for count in DIRECTIONS},
}


def principal_directions(vectors: Floats, count: int) -> Floats:
    """The first principal directions of centred vectors, (count, dimensions)."""
    _, directions = np.linalg.eigh(vectors.T @ vectors / len(vectors))
    found: Floats = directions[:, ::-1][:, :count].T
    return found


def _sum(meaning: Floats, words: Floats, alpha: float) -> Floats:
    return alpha * meaning + (1 - alpha) * words


def _stretched(scores: Floats) -> Floats:
    width = float(np.ptp(scores))
    return (scores - scores.min()) / width if width else np.ones_like(scores)


def _standard(scores: Floats) -> Floats:
    deviation = float(scores.std())
    return (scores - scores.mean()) / deviation if deviation else np.zeros_like(scores)


def _ranks(scores: Floats) -> Floats:
    """1 for the best; equal scores in the order given."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _own(scores: Floats) -> Floats:
    best = _ranks(scores) <= OWN_LIST
    found = np.zeros_like(scores)
    found[best] = _stretched(scores[best])
    return found
