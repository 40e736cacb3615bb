"""Room for much data at once, of which the system need not give each page of 4 KB apart.

On virtual machines the first touch of a page of 4 KB costs 2 to 50 µs, and of one of 2 MB, where the system has
such, up to 4 ms. numpy asks for those from 4 MB on, but only for as much as lies between two of their borders.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

_LARGE_PAGE_BYTES = 2 << 20


def large_room(room_bytes: int) -> NDArray[np.uint8]:
    """So many bytes, of any content; of several megabytes they begin at the border of a large page."""
    if room_bytes < 2 * _LARGE_PAGE_BYTES:
        return np.empty(room_bytes, np.uint8)
    whole = np.empty((room_bytes // _LARGE_PAGE_BYTES + 2) * _LARGE_PAGE_BYTES, np.uint8)
    begin = -whole.ctypes.data % _LARGE_PAGE_BYTES
    return whole[begin : begin + room_bytes]


class RoomsAhead:
    """Rooms of one size, one after the other; the next is touched in a thread while its forerunner is being filled.

    Of the bits of a million vectors the first touch takes two thirds of the time of reading them.
    """

    def __init__(self, room_bytes: int, expected: int) -> None:
        """
        Args:
            expected: how many will be taken at once; those beyond are not touched ahead.
        """
        self._room_bytes = room_bytes
        self._expected = expected
        self._ahead: threading.Thread | None = None
        self._room: NDArray[np.uint8] | None = None

    def take(self) -> NDArray[np.uint8]:
        """The next room."""
        if self._ahead is not None:
            self._ahead.join()
        room = large_room(self._room_bytes) if self._room is None else self._room
        self._room = self._ahead = None
        self._expected -= 1
        if self._expected > 0:
            self._ahead = threading.Thread(target=self._touch, name="tierdeck-room")
            self._ahead.start()
        return room

    def _touch(self) -> None:
        room = large_room(self._room_bytes)
        room.fill(0)
        self._room = room
