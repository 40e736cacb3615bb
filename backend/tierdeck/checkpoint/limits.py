"""What reading a checkpoint may take. Checked before the work, never after. Pure."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1 << 20
GB = 1 << 30

MAX_DEPTH = 400  # of a value on save; its encoding fits a stack of 256 KB
SHARED_FROM = 1_024  # text and bytes shorter than this are written again where they stand again
OBJECT_BYTES = 88
DEQUE_ITEMS = 8  # an empty deque has a block of 64 places
ITEM_BYTES = 80  # the smallest text there is that is not one of the interpreter's own, and three places for it
MAX_HASH_STEPS = 20_000_000
MAX_COMPILE_MS_ALL = 20_000  # of all regular expressions of a file
MAX_TYPE_CHARS = 1_000  # of the name of a type in the table, whose texts have at most 4,096 bytes
MAX_SUMMARY_BYTES = 4_048  # with the header 4,096: one read for each row of a listing


@dataclass(frozen=True, slots=True)
class Limits:
    """The sizes a reader accepts.

    `memory_bytes` bounds what all objects that are read may take, by an estimate from above: 88 bytes each and 80
    for each thing in it, twice that in a set or an ordered dict, and 640 more for a deque. Without `reads_frames`
    data frames become placeholders.
    """

    file_bytes: int = GB
    section_bytes: int = 64 * MB
    raw_bytes: int = GB
    table_bytes: int = 64 * MB
    sections: int = 100_000
    units: int = 100_000
    window_bytes: int = 128 * MB
    memory_bytes: int = 24 * 64 * MB  # the most that a section's plain values can take: 64 bytes for three
    reads_frames: bool = False


CONSOLE_LIMITS = Limits()
AGENT_LIMITS = Limits(section_bytes=256 * MB, memory_bytes=8 * GB, reads_frames=True)
