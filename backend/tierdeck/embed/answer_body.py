"""The body of an embeddings answer, read no longer and no further than an honest one takes, and its vectors.

The HTTP client's timeout is for each piece: a server that sends a byte now and then would hold a search for as long
as it likes. And the openai package builds objects of whatever comes: 6 MB of `[0,0,…]` took it 18 s.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

# A number in JSON takes up to 25 characters, and the text around a vector some hundred.
_NUMBER_BYTES = 32
_AROUND_BYTES = 100_000
# Vectors longer than configured are still read, so that the error can name their length.
_LEAST_DIMENSIONS = 4_096


def longest_answer_bytes(texts: int, dimensions: int) -> int:
    """The most that an honest answer can have."""
    return _AROUND_BYTES + texts * max(dimensions, _LEAST_DIMENSIONS) * _NUMBER_BYTES


def read_body(pieces: Iterable[bytes], *, limit_bytes: int, until_s: float) -> bytes:
    """The whole body, read piece by piece.

    Args:
        until_s: when to give up, by `time.monotonic()`.

    Raises:
        TimeoutError: it was not whole in time.
        ValueError: it is longer than the limit.
    """
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > limit_bytes:
            raise ValueError(f"it is longer than {limit_bytes:,} bytes")
        if time.monotonic() > until_s:
            raise TimeoutError
    return bytes(body)


def vectors_of(body: bytes) -> list[tuple[object, NDArray[np.float32]]]:
    """The vectors of an answer with the place that it says of each, in its order; neither is checked.

    Raises:
        ValueError: it is no JSON, has no list of vectors, or a vector of it is none.
    """
    try:
        found: object = json.loads(body)
    except RecursionError as e:
        raise ValueError("it is nested too deeply") from e
    items = found.get("data") if isinstance(found, dict) else None
    if not isinstance(items, list):
        raise ValueError("it has no list of vectors")  # noqa: TRY004 - what came is wrong, not a caller
    return [_vector_of(item) for item in items]


def _vector_of(item: object) -> tuple[object, NDArray[np.float32]]:
    vector = item.get("embedding") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(vector, str | list) or not vector:
        raise ValueError("a vector of it is none")
    if isinstance(vector, str):
        try:
            return item.get("index"), np.frombuffer(base64.b64decode(vector, validate=True), "<f4")
        except binascii.Error as e:
            raise ValueError(f"a vector of it is not base64: {e}") from e
    try:
        with np.errstate(over="ignore"):  # what float32 can't hold becomes infinite, and is refused as such
            numbers = np.asarray(vector, np.float64).astype(np.float32)
    except TypeError as e:
        raise ValueError(f"a vector of it is none: {e}") from e
    if numbers.ndim != 1:
        raise ValueError("a vector of it is none")
    return item.get("index"), numbers
