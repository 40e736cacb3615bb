"""Memory that scans fill anew each time: kept, since the first touch of a page costs more than what is done in it.

2 to 50 µs a page of 4 KB were measured on virtual machines that give freed pages back to their host.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_N = TypeVar("_N", bound=np.generic)


class ScanBuffers:
    """What one scan works in, by what it is for."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[np.uint8]] = {}

    def room(self, what_for: str, kind: type[_N], *shape: int) -> NDArray[_N]:
        """Room of that shape, of any content; valid until room for the same is taken again."""
        needed = math.prod(shape) * np.dtype(kind).itemsize
        kept = self._kept.get(what_for)
        if kept is None or len(kept) < needed:
            kept = self._kept[what_for] = np.empty(needed + needed // 8, np.uint8)
        return kept[:needed].view(kind).reshape(shape)


class SpareBuffers:
    """The buffers that no scan uses at the moment. Safe to use from threads; a scan within a scan gets its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spare: list[ScanBuffers] = []

    @contextmanager
    def lent(self) -> Iterator[ScanBuffers]:
        """Buffers for the block."""
        with self._lock:
            buffers = self._spare.pop() if self._spare else ScanBuffers()
        try:
            yield buffers
        finally:
            with self._lock:
                self._spare.append(buffers)

    def clear(self) -> None:
        """Give the memory back."""
        with self._lock:
            self._spare.clear()
