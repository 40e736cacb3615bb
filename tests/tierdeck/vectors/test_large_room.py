"""Room for the bits: at the border of a large page, and touched ahead of who fills it."""

from __future__ import annotations

import threading

from tierdeck.vectors.large_room import RoomsAhead, large_room

ROOM_BYTES = 5_000_000


def test_room_of_several_megabytes_begins_at_the_border_of_a_large_page() -> None:
    for room_bytes in (ROOM_BYTES, 14_155_776):
        room = large_room(room_bytes)
        assert room.nbytes == room_bytes
        assert room.ctypes.data % (2 << 20) == 0
    assert large_room(100).nbytes == 100


def test_rooms_taken_one_after_the_other_never_overlap_and_none_is_touched_once_it_is_taken() -> None:
    rooms = RoomsAhead(ROOM_BYTES, 3)
    taken = []
    for number in range(5):
        room = rooms.take()
        room.fill(number + 1)
        taken.append(room)
    assert not [thread for thread in threading.enumerate() if thread.name == "tierdeck-room"]
    assert [set(room.tolist()[:: ROOM_BYTES // 100]) for room in taken] == [{1}, {2}, {3}, {4}, {5}]


def test_no_room_is_touched_ahead_that_is_not_expected() -> None:
    rooms = RoomsAhead(ROOM_BYTES, 1)
    rooms.take()
    assert not [thread for thread in threading.enumerate() if thread.name == "tierdeck-room"]
