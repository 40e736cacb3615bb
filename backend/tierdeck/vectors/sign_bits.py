"""A vector as its signs: one bit a number, whether it lies above the mean. Pure.

Vectors that point the same way share most signs, and signs are compared 40 times faster than the numbers: they
pick the candidates, whose exact cosines then decide. Taken from the mean, since vectors of a model that crowd
together would have the same sign nearly everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 64
# The most of one scan's intermediate values that lie in the processor's cache.
_BLOCK_SLOTS = 32_768
NEVER = np.iinfo(np.uint16).max  # farther than any vector

Words = NDArray[np.uint64]


def words_of(dimensions: int) -> int:
    """How many 64-bit words a vector's signs take."""
    return -(-dimensions // WORD_BITS)


def sign_bits(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> Words:
    """The signs of vectors, one vector a row: uint64 (n, words); bits beyond the last number are 0.

    A number that is exactly the mean's counts as below it.
    """
    packed = np.packbits(vectors > mean, axis=1, bitorder="little")
    padded = np.zeros((len(vectors), 8 * words_of(vectors.shape[1])), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def differing_bits(words: Words, query: Words, out: NDArray[np.uint16]) -> None:
    """How many signs differ between the query and each vector.

    Args:
        words: word-major, (words, slots): each word's column lies together in memory.
        query: (words,).
        out: (slots,), filled.
    """
    slots = words.shape[1]
    mixed = np.empty(min(slots, _BLOCK_SLOTS), np.uint64)
    counted = np.empty(len(mixed), np.uint8)
    for first in range(0, slots, _BLOCK_SLOTS):
        block = out[first : first + _BLOCK_SLOTS]
        block[:] = 0
        width = len(block)
        for column, word in zip(words, query, strict=True):
            np.bitwise_xor(column[first : first + width], word, out=mixed[:width])
            np.bitwise_count(mixed[:width], out=counted[:width])
            np.add(block, counted[:width], out=block)


def nearest_slots(distances: NDArray[np.uint16], rows: int) -> NDArray[np.intp]:
    """The slots of the `rows` smallest distances, and of all that are as near as the last of them, in slot order.

    Those at `NEVER` are left out.
    """
    if rows <= 0 or not len(distances):
        return np.zeros(0, np.intp)
    threshold = NEVER - 1
    if rows < len(distances):
        threshold = min(threshold, int(np.partition(distances, rows - 1)[rows - 1]))
    return np.flatnonzero(distances <= threshold)
