"""The door of the index: a model's vectors checked and brought to unit length. Pure.

At unit length vec0's L2 order is the cosine order, and cosine = 1 - distance² / 2. vec0 itself takes zeros and NaN
without a word, and then ranks them first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tierdeck.errors import VectorRefusedError


def unit_rows(vectors: NDArray[np.floating]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Many vectors at length 1, and which of them are fit for it; `unit_vector` says what is wrong with the others.

    Args:
        vectors: one a row.

    Returns:
        The vectors, float32, of the same shape; and for each row whether it is finite and not all zeros. The row of
        an unfit one means nothing.
    """
    wide = vectors.astype(np.float64)
    largest = np.abs(wide).max(axis=1, initial=0.0)
    is_fit = np.isfinite(largest) & (largest > 0.0)
    wide /= np.where(is_fit, largest, 1.0)[:, None]
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return (wide / np.where(is_fit, lengths, 1.0)[:, None]).astype(np.float32), is_fit


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
