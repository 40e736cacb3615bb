"""What a search asks of the sign bits, wherever they are: in memory, or in the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tierdeck.vectors.query_planes import QueryPlanes
from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.sign_bits import Words

Slots = NDArray[np.intp]


class Bits(Protocol):
    """The bits of one model's vectors; slots are numbered through, empty ones too.

    `mean`: what the signs are taken from. `state`: the same object for as long as no slot holds another vector.
    """

    mean: NDArray[np.float32]
    state: object

    @property
    def slots_count(self) -> int:
        """How many slots there are, empty ones too."""

    def scores(
        self,
        query: QueryPlanes,
        buffers: ScanBuffers,
        differing: NDArray[np.uint16],
        out: NDArray[np.float32],
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """How near the vector in each slot is to the query, by its signs: see `scores_by_signs`.

        Args:
            differing: (slots,), filled with how many of the signs that were gone through differ.
            out: (slots,), filled; -inf where there is no vector.
            should_stop: asked every few milliseconds.

        Raises:
            StoppedError: it said so.
        """

    def cosines(self, slots: Slots, query: QueryPlanes, buffers: ScanBuffers) -> NDArray[np.float32]:
        """The estimated cosine of the vector in each slot, given in order, with the query, by its own numbers."""

    def last_slot(self) -> int | None:
        """The last slot that holds a vector; None when none does."""

    def bits_at(self, slot: int) -> Words:
        """The bits of one slot, (words,)."""

    def keys(self, slots: Slots | None = None) -> NDArray[np.int64]:
        """The store's rowid of the memory in each slot, or in those given; 0 where it is not known."""

    def numbers(self, slots: Slots | None = None) -> NDArray[np.int64]:
        """vec0's number of the vector in each slot, or in those given."""

    def placed(self, slots: Slots) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each slot its chunk and its offset in it."""
