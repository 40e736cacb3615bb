"""Memory that scans fill anew each time: kept, since the first touch of a page costs more than what is done in it.

2 to 50 µs a page of 4 KB were measured on virtual machines that give freed pages back to their host.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray


class ScanBuffers:
    """What one scan works in; what is taken from it is valid until the same is taken again."""

    def __init__(self) -> None:
        self._scores = np.empty(0, np.float32)
        self._counts = np.empty(0, np.uint16)
        self._vectors = np.empty(0, np.float32)

    def scores(self, slots: int) -> NDArray[np.float32]:
        """Room for a number of each slot."""
        if len(self._scores) < slots:
            self._scores = np.empty(slots + slots // 8, np.float32)
        return self._scores[:slots]

    def counts(self, slots: int) -> NDArray[np.uint16]:
        """Room for a small count of each slot."""
        if len(self._counts) < slots:
            self._counts = np.empty(slots + slots // 8, np.uint16)
        return self._counts[:slots]

    def vectors(self, rows: int, dimensions: int) -> NDArray[np.float32]:
        """Room for so many vectors, (rows, dimensions)."""
        if len(self._vectors) < rows * dimensions:
            self._vectors = np.empty(rows * dimensions, np.float32)
        return self._vectors[: rows * dimensions].reshape(rows, dimensions)


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
