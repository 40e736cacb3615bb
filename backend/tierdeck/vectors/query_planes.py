"""A query's own numbers against the signs of vectors: a closer estimate than signs against signs. Pure.

The query's numbers are rounded to 64 levels and laid out as bit planes, so that its product with a row of signs is
a count of bits too: 0.2 µs a vector of 1,536 numbers, against 5 to read one, and half the error of the signs alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tierdeck.vectors.sign_bits import Scales, Words, words_of

# Six leave an error of a tenth of that of the signs, also where one number is ten times the others; each takes
# 0.08 ms of 3,000 vectors.
_PLANES = 6
# How long the projection of a direction on its own signs is, where its numbers are spread as by chance. On lifted
# vectors of wordllama 0.798 ± 0.005 was measured.
_ON_SIGNS = (2 / np.pi) ** 0.5


class QueryPlanes:
    """One query, seen from the mean.

    `error`: the standard deviation of an estimate, of a vector at distance 1 from the mean.
    """

    def __init__(self, query: NDArray[np.float32], mean: NDArray[np.float32]) -> None:
        aside = (query - mean).astype(np.float64)
        dimensions = len(aside)
        self._least = float(aside.min())
        self._step = float(aside.max() - self._least) / (2**_PLANES - 1)
        levels = np.rint((aside - self._least) / (self._step or 1.0)).astype(np.uint8)
        padded = np.zeros((_PLANES, 64 * words_of(dimensions)), np.uint8)
        padded[:, :dimensions] = np.unpackbits(levels[None, :], axis=0, bitorder="little")[:_PLANES]
        self._planes = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
        # Σ sign · number = 2 · Σ over the signs that are set - Σ over all
        self._all = dimensions * self._least + self._step * float(levels.sum())
        self._per_sign = 1 / (_ON_SIGNS * dimensions**0.5)
        self._constant = float(query @ mean) - float(mean @ mean)
        self.error = float(np.linalg.norm(aside)) * ((1 / _ON_SIGNS**2 - 1) / dimensions) ** 0.5

    def cosines(self, words: Words, scales: Scales) -> NDArray[np.float32]:
        """The estimated cosine of each vector with the query.

        Args:
            words: word-major, (words, slots).
            scales: `scales_of` each, (2, slots).
        """
        found = self._products(words)
        found *= np.float32(self._per_sign) * scales[0]
        found += scales[1] + np.float32(self._constant)
        return found

    def _products(self, words: Words) -> NDArray[np.float32]:
        """The query's product with each row of signs, (slots,)."""
        mixed, counted = np.empty(words.shape, np.uint64), np.empty(words.shape, np.uint8)
        levels = np.zeros(words.shape[1], np.float32)
        for plane, bits in enumerate(self._planes):
            np.bitwise_and(words, bits[:, None], out=mixed)
            levels += np.float32(2**plane) * np.bitwise_count(mixed, out=counted).sum(axis=0, dtype=np.uint16)
        are_set = np.bitwise_count(words, out=counted).sum(axis=0, dtype=np.uint16)
        levels *= np.float32(2 * self._step)
        levels += np.float32(2 * self._least) * are_set
        levels -= np.float32(self._all)
        return levels
