"""The closed list: the number that stands first in every array of an encoded value (FORMAT.md, Values). Pure.

Plain numbers and no enum: `strict_types` refuses to pack a member of one.
"""

from __future__ import annotations

from typing import Final

LIST: Final = 0
TUPLE: Final = 1
DICT: Final = 2
SET: Final = 3
FROZENSET: Final = 4
DEQUE: Final = 5
DEFAULTDICT: Final = 6
COUNTER: Final = 7
ORDERED_DICT: Final = 8
OWN: Final = 9
SHARED: Final = 10

INT: Final = 16
COMPLEX: Final = 17
DECIMAL: Final = 18
FRACTION: Final = 19
RANGE: Final = 20
SLICE: Final = 21
DATE: Final = 22
DATETIME: Final = 23
TIME: Final = 24
TIMEDELTA: Final = 25
OFFSET: Final = 26
ZONE: Final = 27
UUID: Final = 28
PATH: Final = 29
PATTERN: Final = 30
BYTEARRAY: Final = 31

ARRAY: Final = 40
ARRAY_SCALAR: Final = 41
FRAME: Final = 42

RECORD: Final = 48
INERT: Final = 49
UNSAVED: Final = 50

KNOWN: Final = frozenset(each for each in tuple(vars().values()) if type(each) is int)  # all of the above

# How many fixed operands follow the tag of a container that can begin as a shell.
SHELLS: Final = {
    LIST: 0,
    DICT: 0,
    SET: 0,
    DEQUE: 1,
    DEFAULTDICT: 1,
    COUNTER: 0,
    ORDERED_DICT: 0,
    RECORD: 2,
}
# Their operands come in pairs, after the fixed ones.
PAIRED: Final = frozenset({DICT, DEFAULTDICT, COUNTER, ORDERED_DICT, RECORD})
