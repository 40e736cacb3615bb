"""The sign bits of all vectors in memory, in the layout that is scanned fastest. Knows no database.

Memory gives 5 GB/s, less than the processor compares: of long vectors only every other word of 64 signs is gone
through. Those lie word by word, the first of every vector together; the others, which only candidates need, vector
by vector. In segments of some 60 chunks, so that it grows without being copied; a chunk's place stays the same for
as long as it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tierdeck.errors import StoppedError
from tierdeck.vectors.chunk_blobs import CHUNK_SLOTS
from tierdeck.vectors.large_room import RoomsAhead
from tierdeck.vectors.query_planes import QueryPlanes
from tierdeck.vectors.scan_buffers import ScanBuffers
from tierdeck.vectors.sign_bits import (
    WORD_BITS,
    Scales,
    Words,
    differing_bits,
    scores_by_signs,
    words_of,
)

_MIN_SEGMENT_CHUNKS = 16
_MAX_SEGMENT_CHUNKS = 64
# What is taken out for so many lies in the processor's cache, and is no fresh memory each time.
_SLOTS_AT_ONCE = 2_048
# Half of fewer signs tells too little.
_MIN_HALVED_WORDS = 16

_N = TypeVar("_N", bound=np.generic)


class _Segment:
    """Room for so many slots; those that no chunk was put into mean nothing."""

    def __init__(self, room: NDArray[np.uint8], slots: int, scanned: int, others: int) -> None:
        words = scanned + others
        rows = room.view(np.uint64).reshape(words + 3, slots)
        self.scanned = rows[:scanned]
        self.others = rows[scanned:words].reshape(slots, others)
        self.rowids = rows[words].view(np.int64)
        self.keys = rows[words + 1].view(np.int64)
        self.scales = rows[words + 2].view(np.float32).reshape(2, slots)
        self.validity = np.zeros(slots, np.bool_)


class BitMemory:
    """The bits of one model's vectors. `slots` are numbered through; not safe to change and scan at once.

    `are_halved`: whether `scores` goes through half of the signs only.
    """

    def __init__(self, mean: NDArray[np.float32], chunks: int = 0) -> None:
        """Empty.

        Args:
            mean: what the signs are taken from.
            chunks: about how many will be put; room for so many is not much more than they need.
        """
        self.mean = mean
        segments = -(-max(1, chunks) // _MAX_SEGMENT_CHUNKS)
        fitting = max(_MIN_SEGMENT_CHUNKS, -(-chunks // segments) + 1)
        self._segment_slots = CHUNK_SLOTS * min(_MAX_SEGMENT_CHUNKS, fitting)
        words = words_of(len(mean))
        self._rooms = RoomsAhead(8 * (words + 3) * self._segment_slots, segments)
        self.are_halved = words >= _MIN_HALVED_WORDS
        self._scanned = slice(0, words, 2) if self.are_halved else slice(0, words)
        self._others = slice(1, words, 2) if self.are_halved else slice(0, 0)
        scanned_firsts = range(0, len(mean), 2 * WORD_BITS if self.are_halved else WORD_BITS)
        self._scanned_signs = sum(min(WORD_BITS, len(mean) - first) for first in scanned_firsts)
        self._segments: list[_Segment] = []
        self._place_of: dict[int, int] = {}
        self._chunk_at: list[int | None] = []
        self._free: list[int] = []
        self.state = object()  # another one after each change

    @property
    def slots_count(self) -> int:
        """How many slots there are, empty ones too."""
        return CHUNK_SLOTS * len(self._chunk_at)

    @property
    def chunks(self) -> Iterable[int]:
        """The chunks that are held."""
        return self._place_of.keys()

    @property
    def vectors_count(self) -> int:
        """How many vectors there are."""
        return sum(int(segment.validity.sum()) for segment in self._segments)

    def put(
        self,
        chunk_id: int,
        bits: Words,
        validity: NDArray[np.bool_],
        rowids: NDArray[np.int64],
        keys: NDArray[np.int64],
        scales: Scales,
    ) -> None:
        """Hold a chunk, or what it is now: bits (1024, words), scales (1024, 2), the others (1024,)."""
        place = self._place_of.get(chunk_id)
        if place is None:
            place = self._new_place()
            self._place_of[chunk_id] = place
            self._chunk_at[place] = chunk_id
        segment, slots = self._at(place)
        segment.scanned[:, slots] = bits[:, self._scanned].T
        segment.others[slots] = bits[:, self._others]
        segment.validity[slots] = validity
        segment.rowids[slots] = rowids
        segment.keys[slots] = keys
        segment.scales[:, slots] = scales.T
        segment.scales[1, slots][~validity] = -np.inf  # the estimate of a slot that holds no vector
        self.state = object()

    def drop(self, chunk_id: int) -> None:
        """A chunk is gone; its place is given to another one."""
        place = self._place_of.pop(chunk_id)
        segment, slots = self._at(place)
        segment.validity[slots] = False
        segment.scales[1, slots] = -np.inf
        self.state = object()
        self._chunk_at[place] = None
        self._free.append(place)

    def scores(
        self,
        query: QueryPlanes,
        buffers: ScanBuffers,
        differing: NDArray[np.uint16],
        out: NDArray[np.float32],
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """How near the vector in each slot is to the query, by the signs gone through: see `scores_by_signs`.

        Args:
            differing: (slots,), filled with how many of those signs differ.
            out: (slots,), filled; -inf where there is no vector.
            should_stop: asked before every 65,536 vectors (1 ms of 1,536 dimensions).

        Raises:
            StoppedError: it said so.
        """
        signs = query.signs[self._scanned]
        for number, segment in enumerate(self._segments):
            if should_stop is not None and should_stop():
                raise StoppedError("search: stopped")
            part = slice(number * self._segment_slots, min(len(out), (number + 1) * self._segment_slots))
            slots = slice(0, part.stop - part.start)
            differing_bits(segment.scanned[:, slots], signs, buffers, differing[part])
            scales = segment.scales[:, slots]
            scores_by_signs(differing[part], self._scanned_signs, scales, query.distance, out[part])

    def closer_scores(
        self, slots: NDArray[np.intp], differing: NDArray[np.uint16], query: QueryPlanes, buffers: ScanBuffers
    ) -> NDArray[np.float32]:
        """The same of slots given in order, by all signs.

        Args:
            differing: how many of the signs gone through differ, of each of them.
        """
        signs = query.signs[self._others]
        counts, scales = np.empty(len(slots), np.uint16), np.empty((2, len(slots)), np.float32)
        for segment, within, places in self._by_segment(slots):
            words = buffers.room("others", np.uint64, len(within), len(signs))
            segment.others.take(within, axis=0, out=words, mode="clip")
            differing_bits(words.T, signs, buffers, counts[places])
            _take(segment.scales, within, scales[:, places])
        counts += differing
        found = np.empty(len(slots), np.float32)
        scores_by_signs(counts, len(self.mean), scales, query.distance, found)
        return found

    def cosines(self, slots: NDArray[np.intp], query: QueryPlanes, buffers: ScanBuffers) -> NDArray[np.float32]:
        """The estimated cosine of the vector in each slot, given in order, with the query, by its own numbers."""
        found = np.empty(len(slots), np.float32)
        for segment, within, places in self._by_segment(slots):
            words = buffers.room("words", np.uint64, words_of(len(self.mean)), len(within))
            scales = buffers.room("scales", np.float32, 2, len(within))
            _take(segment.scanned, within, words[self._scanned])
            words[self._others] = segment.others.take(within, axis=0).T
            _take(segment.scales, within, scales)
            found[places] = query.cosines(words, scales, buffers)
        return found

    def last_slot(self) -> int | None:
        """The last slot that holds a vector; None when none does."""
        for number in reversed(range(len(self._segments))):
            there = np.flatnonzero(self._segments[number].validity)
            if len(there):
                return number * self._segment_slots + int(there[-1])
        return None

    def bits_at(self, slot: int) -> Words:
        """The bits of one slot, (words,)."""
        number, within = divmod(slot, self._segment_slots)
        segment = self._segments[number]
        bits = np.empty(words_of(len(self.mean)), np.uint64)
        bits[self._scanned], bits[self._others] = segment.scanned[:, within], segment.others[within]
        return bits

    def keys(self, slots: NDArray[np.intp] | None = None) -> NDArray[np.int64]:
        """The store's rowid of the memory in each slot, or in those given; 0 where it is not known."""
        return self._gathered([segment.keys for segment in self._segments], slots)

    def numbers(self, slots: NDArray[np.intp] | None = None) -> NDArray[np.int64]:
        """vec0's number of the vector in each slot, or in those given."""
        return self._gathered([segment.rowids for segment in self._segments], slots)

    def placed(self, slots: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of each slot its chunk and its offset in it."""
        chunk_at = np.array([0 if chunk is None else chunk for chunk in self._chunk_at], np.int64)
        return chunk_at[slots // CHUNK_SLOTS], slots.astype(np.int64) % CHUNK_SLOTS

    def _gathered(self, parts: list[NDArray[np.int64]], slots: NDArray[np.intp] | None) -> NDArray[np.int64]:
        if slots is None:
            return np.concatenate([*parts, np.zeros(0, np.int64)])[: self.slots_count]
        found, in_segment = np.empty(len(slots), np.int64), slots // self._segment_slots
        for number, part in enumerate(parts):  # not by `np.unique`, whose first call takes 15 ms
            places = np.flatnonzero(in_segment == number)
            found[places] = part[slots[places] - number * self._segment_slots]
        return found

    def _by_segment(self, slots: NDArray[np.intp]) -> Iterator[tuple[_Segment, NDArray[np.intp], slice]]:
        """The segments that slots, given in order, lie in: some slots within each, and their places in the list."""
        borders = np.searchsorted(slots, np.arange(len(self._segments) + 1) * self._segment_slots).tolist()
        for number, segment in enumerate(self._segments):
            for first in range(borders[number], borders[number + 1], _SLOTS_AT_ONCE):
                places = slice(first, min(first + _SLOTS_AT_ONCE, borders[number + 1]))
                yield segment, slots[places] - number * self._segment_slots, places

    def _at(self, place: int) -> tuple[_Segment, slice]:
        number, within = divmod(place, self._segment_slots // CHUNK_SLOTS)
        return self._segments[number], slice(within * CHUNK_SLOTS, (within + 1) * CHUNK_SLOTS)

    def _new_place(self) -> int:
        if self._free:
            return self._free.pop()
        if self.slots_count == len(self._segments) * self._segment_slots:
            words = range(words_of(len(self.mean)))
            scanned, others = len(words[self._scanned]), len(words[self._others])
            self._segments.append(_Segment(self._rooms.take(), self._segment_slots, scanned, others))
        self._chunk_at.append(None)
        return len(self._chunk_at) - 1


def _take(rows: NDArray[_N], slots: NDArray[np.intp], out: NDArray[_N]) -> None:
    """Those slots of each row. "clip": with "raise" numpy would fill a copy first."""
    for row, part in zip(rows, out, strict=True):
        row.take(slots, out=part, mode="clip")
