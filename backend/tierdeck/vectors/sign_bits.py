"""A vector as its signs: one bit a number, whether it lies above the mean. Pure.

Vectors that point the same way share most signs, and signs are compared 40 times faster than the numbers: they
pick the candidates, whose exact cosines then decide. Taken from the mean, since vectors of a model that crowd
together would have the same sign nearly everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tierdeck.vectors.scan_buffers import ScanBuffers

WORD_BITS = 64
# As many intermediate values as lie in the processor's cache.
_BLOCK_SLOTS, _BLOCK_WORDS = 32_768, 49_152
_BLOCK_VECTORS = 64
_SAMPLED = 16

Words = NDArray[np.uint64]
Scales = NDArray[np.float32]


def words_of(dimensions: int) -> int:
    """How many 64-bit words a vector's signs take."""
    return -(-dimensions // WORD_BITS)


def sign_bits(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> Words:
    """The signs of vectors, one vector a row: uint64 (n, words); bits beyond the last number are 0.

    A number that is exactly the mean's counts as below it.
    """
    dimensions = vectors.shape[1]
    padded = np.zeros((len(vectors), 8 * words_of(dimensions)), np.uint8)
    is_above = np.empty((min(len(vectors), _BLOCK_VECTORS), dimensions), np.bool_)
    for first in range(0, len(vectors), _BLOCK_VECTORS):
        block = vectors[first : first + _BLOCK_VECTORS]
        np.greater(block, mean, out=is_above[: len(block)])
        signs = np.packbits(is_above[: len(block)], axis=1, bitorder="little")
        padded[first : first + len(block), : signs.shape[1]] = signs
    return padded.view(np.uint64)


def differing_bits(words: Words, query: Words, buffers: ScanBuffers, out: NDArray[np.uint16]) -> None:
    """How many signs differ between the query and each vector.

    Args:
        words: word-major, (words, slots): fastest where each word's row lies together in memory.
        query: (words,).
        out: (slots,), filled.
    """
    slots = words.shape[1]
    for first in range(0, slots, _BLOCK_SLOTS):
        part = slice(first, min(slots, first + _BLOCK_SLOTS))
        width = part.stop - first
        # Of many slots a row at a time, a tenth faster from memory; of few all rows, as each call takes 1 µs.
        at_once = len(words) if len(words) * width <= _BLOCK_WORDS else 1
        mixed = buffers.room("mixed", np.uint64, at_once, width)
        counted = buffers.room("counted", np.uint8, at_once, width)
        out[part] = 0
        for row in range(0, len(words), at_once):
            rows = slice(row, row + at_once)
            np.bitwise_xor(words[rows, part], query[rows, None], out=mixed)
            np.bitwise_count(mixed, out=counted)
            out[part] += counted[0] if at_once == 1 else np.add.reduce(counted, axis=0, dtype=np.uint16)


def scales_of(vectors: NDArray[np.float32], mean: NDArray[np.float32]) -> Scales:
    """What the signs alone don't tell of each vector: its distance from the mean, and its product with the mean.

    Args:
        vectors: at unit length, one a row.

    Returns:
        float32 (n, 2).
    """
    along = np.vecdot(vectors, mean)
    squares = np.float32(1) - np.float32(2) * along + np.vecdot(mean, mean)
    return np.stack([np.sqrt(np.maximum(squares, np.float32(0))), along], axis=1)


def scores_by_signs(
    differing: NDArray[np.uint16], signs: int, scales: Scales, distance: float, out: NDArray[np.float32]
) -> None:
    """How near each vector is to the query by how many signs differ: larger is nearer.

    The share of signs that differ is the angle seen from the mean. Near a right angle the score is the cosine, but
    for a constant. Of closer vectors it is higher: their cosines, looked up, put no other ones first and took three
    times as long. Of 100,000 vectors of 1,536 numbers, 1,000 candidates so chosen hold 0.998 of the nearest 50,
    2,000 hold 0.9996, and by half of the signs 10,000 hold 0.998 (100 questions of the benchmark's store).

    Args:
        signs: of how many signs they differ.
        scales: `scales_of` each, (2, slots).
        distance: of the query from the mean.
        out: (slots,), filled.
    """
    right_angle = np.float32(np.pi / 2 * distance)
    np.multiply(differing, np.float32(-2 / signs) * right_angle, out=out)
    np.add(out, right_angle, out=out)
    np.multiply(out, scales[0], out=out)
    np.add(out, scales[1], out=out)


def best_slots(scores: NDArray[np.float32], rows: int) -> NDArray[np.intp]:
    """The slots of the `rows` largest scores, and of all that are as large as the last of them, in slot order.

    Those at minus infinity are left out.
    """
    if rows <= 0 or not len(scores):
        return np.zeros(0, np.intp)
    likely = _likely_best(scores, rows)
    found = scores if likely is None else scores[likely]
    least = np.float32(-np.inf)
    if rows < len(found):
        least = np.partition(found, len(found) - rows)[len(found) - rows]
    best = np.flatnonzero(found >= least if least > -np.inf else found > -np.inf)
    return best if likely is None else likely[best]


def _likely_best(scores: NDArray[np.float32], rows: int) -> NDArray[np.intp] | None:
    """Slots among which those of the `rows` largest scores are, in order; None where they are not quickly told.

    Every 16th score says about where the bound lies: a third of the time of putting all in order.
    """
    sampled = scores[::_SAMPLED]
    about = rows // _SAMPLED + 4 * int((rows / _SAMPLED) ** 0.5) + 1
    if about >= len(sampled) // 2:
        return None
    likely = np.flatnonzero(scores >= np.partition(sampled, len(sampled) - about)[len(sampled) - about])
    return likely if rows <= len(likely) else None
