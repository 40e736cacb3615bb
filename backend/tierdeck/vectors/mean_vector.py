"""The vector that meaning is measured from: the mean of a store's vectors, steadied by a fixed set of sentences.

m = (sum of all vectors + 100 x p) / (n + 100), where p is the mean of 64 fixed sentences' vectors. Without p a
store of one memory would have every cosine at 0. m stays as it is until n has doubled, so that scores don't drift
while somebody works with them. Pure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PROBE_WEIGHT = 100


def mean_vector(
    vector_sum: NDArray[np.float64], vectors: int, probe_mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean m of `vectors` vectors with that sum, steadied by the probes' mean."""
    return (vector_sum + PROBE_WEIGHT * probe_mean) / (vectors + PROBE_WEIGHT)


def is_due(vectors: int, mean_vectors: int, *, has_mean: bool) -> bool:
    """Whether m is to be taken anew: never taken, or twice as many vectors as when it was."""
    return not has_mean or vectors >= 2 * max(1, mean_vectors)
