"""The door of the index: a model's vectors checked and brought to unit length. Pure.

At unit length vec0's L2 order is the cosine order, and cosine = 1 - distance² / 2. vec0 itself takes zeros and NaN
without a word, and then ranks them first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tierdeck.errors import VectorRefusedError


def unit_vector(vector: NDArray[np.floating], dimensions: int, *, of: str = "text") -> NDArray[np.float32]:
    """The vector at length 1, float32.

    Args:
        vector: as the model gave it, one-dimensional.
        dimensions: the length it must have.
        of: what it belongs to, for the message: a node's id.

    Raises:
        VectorRefusedError: wrong length, a NaN or infinite number in it, or all zeros.
    """
    if vector.shape != (dimensions,):
        raise VectorRefusedError(f"embed {of}: the vector has {vector.size} numbers, {dimensions} are expected")
    wide = vector.astype(np.float64)
    if not np.isfinite(wide).all():
        kind = "NaN" if np.isnan(wide).any() else "an infinite number"
        raise VectorRefusedError(f"embed {of}: the vector holds {kind}")
    # Scaled first: the squares of numbers near 1e-200 would vanish.
    largest = np.abs(wide).max(initial=0.0)
    if largest == 0.0:
        raise VectorRefusedError(f"embed {of}: the vector is all zeros")
    wide /= largest
    return (wide / np.linalg.norm(wide)).astype(np.float32)
