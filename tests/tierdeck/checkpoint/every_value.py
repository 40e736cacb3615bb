"""Values of every type a checkpoint holds, and whether two are the same: type, content, and what is one object."""

from __future__ import annotations

import pathlib
import re
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, timedelta, timezone
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import strategies as st

from tierdeck.checkpoint.kinds.records import Inert, Record
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.decode import decode_pool, decode_unit
from tierdeck.checkpoint.values.encode import Encoded, encode_units
from tierdeck.checkpoint.values.nodes import Source

_ZONES = st.sampled_from(
    [
        None, UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(seconds=-1), "odd"),
        ZoneInfo("Europe/Rome"),
    ]
)  # fmt: skip
_TEXT = st.text(st.characters(), max_size=30) | st.sampled_from(["", "a\0b", "a\ud800", "\ud83d\ude00", "x" * 2000])
_EDGES = [2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1]
_INTS = st.integers() | st.integers(-(2**200), 2**200) | st.sampled_from(_EDGES)
_FLOATS = st.floats() | st.sampled_from([-0.0, float("nan"), float("inf"), float("-inf")])
_PATHS = st.lists(st.text("abc.-_ é", min_size=1, max_size=4), max_size=4).map(lambda parts: "/".join(parts))
_PATTERNS = st.sampled_from(
    [
        re.compile("a+"), re.compile(b"\xff", re.DOTALL), re.compile("(?i)x|y"),
        re.compile("é", re.ASCII | re.VERBOSE),
    ]
)  # fmt: skip
_KEY_SCALARS = (
    st.none() | st.booleans() | _INTS | st.floats(allow_nan=False) | _TEXT | st.binary(max_size=20)
    | st.complex_numbers(allow_nan=False) | st.decimals(allow_nan=False) | st.fractions()
    | st.builds(range, st.integers(), st.integers(), st.integers(1, 9)) | st.uuids() | st.dates()
    | st.times(timezones=st.none()) | st.timedeltas() | _PATHS.map(pathlib.PurePosixPath) | _PATTERNS
)  # fmt: skip
SCALARS = (
    _KEY_SCALARS | _FLOATS | st.complex_numbers() | st.decimals()
    | st.sampled_from([Decimal("sNaN12"), Decimal("-0E+5")]) | st.datetimes(timezones=_ZONES)
    | st.times(timezones=_ZONES) | st.binary(max_size=9).map(bytearray) | _PATHS.map(pathlib.PureWindowsPath)
    | _PATHS.map(pathlib.Path) | st.builds(slice, _INTS, st.none(), st.integers())
    | st.builds(lambda b: UUID(bytes=b), st.binary(min_size=16, max_size=16))
)  # fmt: skip
KEYS = st.recursive(
    _KEY_SCALARS,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
_ARRAYS = st.sampled_from(
    [
        np.arange(12, dtype=">i4").reshape(3, 4), np.zeros((0, 3), "f2"), np.array(7.5), np.array(["a", "éé"]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array(["2020-01-01", "NaT"], "M8[ns]"),
        np.array([1, 2], "m8[D]"), np.zeros(2, [("a", "i4"), ("b", "S3", (2,))]),
        np.zeros(2, np.dtype("i1,f8", align=True)), np.array([True, False]), np.arange(10)[::2],
        np.array([1 + 2j], "c8"), np.array([b"a\0b", b""]),
    ]
)  # fmt: skip
_ARRAY_SCALARS = st.sampled_from(
    [
        np.float32(1.5), np.int64(-3), np.bool_(True), np.datetime64("2020-01-01"), np.str_(""), np.bytes_(b"a\0"),
        np.complex64(1j),
    ]
)  # fmt: skip
_FACTORIES = st.sampled_from(
    [
        None, list, dict, set, int, float, str, tuple, bool, bytes, frozenset, Counter, deque, OrderedDict,
    ]
)  # fmt: skip


def _defaultdict(factory: type | None, items: dict[object, object]) -> defaultdict[object, object]:
    return defaultdict(factory, items)


def _bounded(items: list[object], room: int) -> deque[object]:
    return deque(items, maxlen=len(items) + room)


VALUES = st.recursive(
    SCALARS | _ARRAYS | _ARRAY_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(KEYS, max_size=4)
        | st.frozensets(KEYS, max_size=4)
        | st.builds(
            lambda items, extra: deque(items, maxlen=len(items) + extra),
            st.lists(inner, max_size=3),
            st.integers(0, 2),
        )
        | st.lists(inner, max_size=3).map(deque)
        | st.builds(_defaultdict, _FACTORIES, st.dictionaries(KEYS, inner, max_size=3))
        | st.dictionaries(KEYS, st.integers(-5, 5) | inner, max_size=3).map(Counter)
        | st.dictionaries(KEYS, inner, max_size=3).map(OrderedDict)
    ),
    max_leaves=25,
)


def decode(encoded: Encoded) -> dict[str, object]:
    """All units of what was encoded, by their names."""
    budget = Budget(AGENT_LIMITS.memory_bytes, reads_frames=True)
    pools = [decode_pool(pool.raw, budget=budget) for pool in encoded.pools]
    found = {}
    for unit in encoded.units:
        pool = None if unit.facts.pool is None else pools[unit.facts.pool]
        found[unit.facts.name] = decode_unit(unit.raw, form=unit.form, pool=pool, budget=budget)
    return found


def round_trip(**variables: object) -> dict[str, object]:
    """The variables, saved together and read again; those that were lost are missing."""
    return decode(encode_units([Source(name, value) for name, value in variables.items()]))


def same(found: object, wanted: object) -> bool:
    """Whether two values have the same types, contents and shape of references; walks without recursion."""
    pairs: dict[int, int] = {}
    todo = [(found, wanted)]
    while todo:
        a, b = todo.pop()
        if type(a) is not type(b):
            return False
        children = _children(a), _children(b)
        if children[0] is None or children[1] is None:
            if not _same_leaf(a, b):
                return False
            continue
        if id(a) in pairs:
            if pairs[id(a)] != id(b):
                return False
            continue
        if len(children[0]) != len(children[1]) or _fixed(a) != _fixed(b):
            return False
        if a != ():
            pairs[id(a)] = id(b)
        todo += zip(children[0], children[1], strict=True)
    return len(set(pairs.values())) == len(pairs)


def _children(value: object) -> list[object] | None:
    if isinstance(value, set | frozenset):
        # What a set holds is compared as a whole: its order is no part of it.
        return None
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, Record):
        return list(value.fields.values())
    if isinstance(value, slice):
        return [value.start, value.stop, value.step]
    return list(value) if isinstance(value, list | tuple | deque) else None


def _fixed(value: object) -> object:
    if isinstance(value, deque):
        return value.maxlen
    if isinstance(value, defaultdict):
        return value.default_factory
    return (value.kind, value.type_name, list(value.fields)) if isinstance(value, Record) else None


def _same_leaf(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack(">d", a) == struct.pack(">d", b)
    if isinstance(a, complex) and isinstance(b, complex):
        return struct.pack(">dd", a.real, a.imag) == struct.pack(">dd", b.real, b.imag)
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return a.as_tuple() == b.as_tuple()
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return _array_facts(a) == _array_facts(b) and a.flags.writeable and a.flags.owndata
    if isinstance(a, np.generic) and isinstance(b, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, Inert) and isinstance(b, Inert):
        return (a.kind, a.name, a.source) == (b.kind, b.name, b.source)
    if isinstance(a, set | frozenset) and isinstance(b, set | frozenset):
        return a == b and sorted(map(repr, map(type, a))) == sorted(map(repr, map(type, b)))
    return a == b and _more(a) == _more(b)


def _array_facts(array: np.ndarray) -> tuple[object, ...]:
    is_column_wise = array.flags.f_contiguous and not array.flags.c_contiguous
    return array.dtype, array.dtype.isalignedstruct, array.shape, array.tobytes(), is_column_wise


def _more(value: object) -> object:
    """What equality does not look at: fold and the zone's key of times, the safety of ids."""
    zone = getattr(value, "tzinfo", None)
    return getattr(value, "fold", None), repr(zone), getattr(value, "is_safe", None), getattr(value, "flags", None)
