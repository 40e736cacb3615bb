"""What becomes of each kind of value in our format and in others: the table in FORMAT.md."""

from __future__ import annotations

import datetime as dt
import enum
import json
import pathlib
import pickle
import re
import threading
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from pydantic import BaseModel

from tests.bench.checkpoint_formats import langgraph_serializer
from tests.tierdeck.checkpoint.every_value import same
from tierdeck.checkpoint import (
    AGENT_LIMITS,
    Checkpoint,
    CheckpointFile,
    Inert,
    InMemory,
    Record,
    load_checkpoint,
    pack_checkpoint,
    seal,
    with_classes,
)

EXACT = "exact"
REFUSED = "refused, nothing is saved"
UNREAD = "saved, then not read"
Saved = dict[str, object]


@dataclass
class Point:
    x: int
    label: str


class Pair(NamedTuple):
    left: int
    right: str


class Colour(enum.Enum):
    RED = 1


class Model(BaseModel):
    name: str
    when: dt.date


class Plain:
    def __init__(self) -> None:
        self.x = 1


def named_function() -> int:
    """One that can be imported."""
    return 1


def numbers() -> Iterator[int]:
    """A generator that has begun."""
    yield 1
    yield 2


def kinds() -> dict[str, object]:
    """A value of each kind, by its name in the table."""
    summer = dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Rome"))
    shared: list[object] = [1]
    cycle: list[object] = [1]
    cycle.append(cycle)
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    begun = numbers()
    next(begun)
    records = np.zeros(2, [("a", "<i4"), ("b", "S3")])
    return {
        "None, bool, int, float, text, list, dict with text keys": [
            {"a": None, "b": [True, 1, 1.5, "é"]},
        ],
        "NaN, infinity, −0.0": [float("nan"), float("-inf"), -0.0],
        "int beyond 64 bits": 2**100,
        "text with a lone surrogate": "a\udc80",
        "bytes": b"\xff",
        "bytearray": bytearray(b"\xff"),
        "tuple": (1, (2,)),
        "dict with int keys": {1: "a", 2: "b"},
        "dict with tuple keys": {(1, 2): "a"},
        "set": {1, "a"},
        "frozenset": frozenset({1}),
        "deque without a bound": deque([1, 2]),
        "deque with a bound": deque([1], 3),
        "defaultdict": defaultdict(list, a=[1]),
        "Counter": Counter("aab"),
        "OrderedDict": OrderedDict(b=1, a=2),
        "complex": 1 + 2j,
        "Decimal": Decimal("-1.50"),
        "Fraction": Fraction(1, 3),
        "range": range(0, 10, 2),
        "slice": slice(1, None, 2),
        "date": dt.date(2024, 2, 29),
        "datetime with an offset": dt.datetime(2024, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        "datetime with a zone and fold": summer,
        "time": dt.time(1, 2, 3, 4),
        "timedelta": dt.timedelta(-1, 5, 7),
        "UUID": uuid.UUID(int=5),
        "Path": pathlib.Path("/a/b"),
        "PurePosixPath": pathlib.PurePosixPath("/a/b"),
        "regular expression": re.compile("a+", re.IGNORECASE),
        "numpy array": np.arange(6, dtype="f4").reshape(2, 3),
        "numpy array, column by column": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "numpy array with fields": records,
        "numpy array of moments": np.array(["2020-01-01", "NaT"], "M8[ns]"),
        "numpy scalar": np.float32(0.5),
        "dataclass": Point(1, "a"),
        "namedtuple": Pair(1, "a"),
        "enum": Colour.RED,
        "pydantic model": Model(name="a", when=dt.date(2024, 1, 2)),
        "instance of another class": Plain(),
        "the same list twice": [shared, shared],
        "a list that holds itself": cycle,
        "300 lists inside each other": deep,
        "function with a name": named_function,
        "lambda": eval("lambda: 1"),
        "module": json,
        "class": Point,
        "lock": threading.Lock(),
        "generator": begun,
    }


def table_of_kinds() -> str:
    """Rows with the same outcome everywhere are one row."""
    columns: dict[str, Callable[[Saved], Saved]] = {
        "here": _ours,
        "pickle 5": lambda saved: pickle.loads(pickle.dumps(saved, 5)),
        "json": lambda saved: json.loads(json.dumps(saved)),
        "langgraph-checkpoint": _langgraph,
    }
    rows: dict[tuple[str, ...], list[str]] = {}
    for name, value in kinds().items():
        rows.setdefault(tuple(outcome(value, trip) for trip in columns.values()), []).append(name)
    lines = [f"| kind of value | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"]
    lines += [f"| {', '.join(names)} | {' | '.join(outcomes)} |" for outcomes, names in rows.items()]
    return "\n".join(lines)


NOTE = """\
Each value is saved as one variable beside another. Pickle gives back classes and functions by importing what the
bytes name and calling it; langgraph-checkpoint, without options, imports and calls the classes that they name."""


def outcome(value: object, trip: Callable[[Saved], Saved]) -> str:
    """What became of a variable saved together with another one."""
    try:
        back = trip({"x": value, "y": 1})
    except _UnreadError:
        return UNREAD
    except Exception:  # noqa: BLE001  # each of them has errors of its own
        return REFUSED
    if "x" not in back:
        return "left out, listed; the others are saved"
    found = back["x"]
    if is_same(found, value):
        return EXACT
    if isinstance(found, Inert):
        return "its name as text, listed"
    if isinstance(found, Record):
        again = with_classes(back, {found.type_name: type(value)})["x"]
        return "its fields, listed; exact when the host gives the class" if is_same(again, value) else "its fields"
    if type(found) is not type(value):
        return f"becomes {type(found).__name__}"
    return changed(found, value)


def changed(found: object, value: object) -> str:
    """What is not as it was, of the same type."""
    if isinstance(found, np.ndarray) and isinstance(value, np.ndarray):
        if found.dtype == value.dtype and found.tobytes() == value.tobytes() and not found.flags.writeable:
            return "exact but can't be written to"
        return "other content"
    if isinstance(found, deque) and isinstance(value, deque) and found.maxlen != value.maxlen:
        return "without its bound"
    if isinstance(found, dt.datetime) and isinstance(value, dt.datetime):
        return "without its fold" if found.tzinfo == value.tzinfo else "a fixed offset for the zone"
    if isinstance(value, list) and len(value) == 2 and value[0] is value[1] and found == value:
        return "becomes two lists"
    return f"becomes {found!a}" if isinstance(found, str | dict) else "other content"


def is_same(found: object, value: object) -> bool:
    """As the tests compare; an instance by what is in it."""
    if isinstance(found, np.ndarray) and isinstance(value, np.ndarray):
        return (
            found.dtype == value.dtype
            and found.shape == value.shape
            and found.tobytes() == value.tobytes()
            and found.flags.f_contiguous == value.flags.f_contiguous
            and found.flags.writeable
        )
    if isinstance(found, Plain) and isinstance(value, Plain):
        return vars(found) == vars(value)
    return same(found, value)


class _UnreadError(Exception):
    pass


def _ours(saved: Saved) -> Saved:
    packed = pack_checkpoint(Checkpoint("bench", "00112233445566ff", 1, 1, repl_state=saved))
    data = b"".join(seal(packed).pieces)
    back = load_checkpoint(CheckpointFile(InMemory(data), "bench", limits=AGENT_LIMITS))
    return dict(back.repl_state)


def _langgraph(saved: Saved) -> Saved:
    serializer = langgraph_serializer()
    data = serializer.dumps_typed(saved)
    try:
        found: Saved = serializer.loads_typed(data)
    except Exception as e:
        raise _UnreadError from e
    return found
