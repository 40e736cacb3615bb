"""Room for much data at once, of which the system need not give each page of 4 KB apart.

A first touch costs 2 to 50 µs on virtual machines, whether of 4 KB or, where the system has such pages, of 2 MB:
numpy asks for those from 4 MB on, but only for as much as lies between two of their borders.
"""

from __future__ import annotations

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
