"""What can't be saved is listed, with its place and the reason, and takes nothing else with it."""

from __future__ import annotations

import enum
import json
import re
import socket
import threading
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any, NamedTuple

import numpy as np
import pydantic
import pytest

from tests.tierdeck.checkpoint.every_value import decode
from tierdeck.checkpoint.kinds.loss import Loss
from tierdeck.checkpoint.kinds.records import Inert, Record, Unsaved
from tierdeck.checkpoint.limits import Limits
from tierdeck.checkpoint.values.encode import encode_units
from tierdeck.checkpoint.values.nodes import Source


def save(*, parts: dict[str, object] | None = None, **variables: object) -> tuple[dict[str, Any], tuple[Loss, ...]]:
    sources = [Source(name, value) for name, value in variables.items()]
    sources += [Source(name, value, is_part=True) for name, value in (parts or {}).items()]
    encoded = encode_units(sources)
    return decode(encoded), encoded.losses


@pytest.mark.spec("SPEC-09.21")
@pytest.mark.case("C06")
def test_a_loss_names_the_variable_and_the_path_inside_it() -> None:
    found, losses = save(a=[{"sock": threading.Lock()}], b={("x", 1): [0, {"not a name": socket.socket}]}, c=1)
    assert found["c"] == 1
    assert "a" not in found
    assert [(loss.variable, loss.path, loss.kind) for loss in losses] == [
        ("a", "a[0].sock", "lost"),
        ("b", "b[tuple of 2: 'x', 1][1]['not a name']", "inert"),
    ]
    assert "_thread.lock" in losses[0].reason
    assert losses[0].type_name == "_thread.lock"


def test_every_loss_of_a_variable_is_listed_up_to_twenty() -> None:
    locks = [threading.Lock() for _ in range(50)]
    _, losses = save(few=[1, locks[0], {"x": locks[1]}, (locks[2],), {2: {3: locks[3]}}], many=locks)
    assert [loss.path for loss in losses[:4]] == ["few[1]", "few[2].x", "few[3][0]", "few[4][2][3]"]
    assert sum(loss.variable == "many" for loss in losses) == 20


@pytest.mark.case("C07", "K12", "K20")
def test_modules_functions_files_and_locks_break_nothing() -> None:
    class Thing:
        pass

    with open(__file__, encoding="utf-8") as file:
        found, losses = save(
            json=json, re=re, f=save, g=lambda: 1, h=(n for n in [1]), lock=threading.Lock(), thing=Thing(),
            file=file, ok=[1], length=len, kind=Thing, method=[].append,
        )  # fmt: skip
    assert found["ok"] == [1]
    assert {loss.path for loss in losses if loss.kind == "lost"} == {"h", "lock", "thing", "file", "method"}
    assert {loss.path for loss in losses if loss.kind == "inert"} == {"json", "re", "f", "g", "length", "kind"}
    assert (found["json"].kind, found["json"].name) == ("module", "json")
    assert found["f"].name == f"{__name__}.save"
    assert found["length"].name == "builtins.len"
    assert type(found["kind"]) is Inert


def test_a_function_keeps_its_source_when_the_caller_knows_it() -> None:
    space: dict[str, Any] = {}
    text = "def twice(x):\n    return 2 * x\n"
    exec(compile(text, "<cell>", "exec"), space)
    encoded = encode_units([Source("twice", space["twice"])], source_text={space["twice"].__code__: text})
    [made] = decode(encoded).values()
    assert isinstance(made, Inert)
    assert made.source == text


@pytest.mark.case("K22")
def test_a_value_nested_too_deep_is_lost_with_its_path_and_the_rest_is_saved() -> None:
    def nested(depth: int) -> list[object]:
        value: list[object] = []
        for _ in range(depth - 1):
            value = [value]
        return value

    found, losses = save(deep=nested(1024), deepest=nested(400), beyond=nested(401), ok=1)
    assert sorted(found) == ["deepest", "ok"]
    assert [loss.variable for loss in losses] == ["deep", "beyond"]
    assert losses[0].path.startswith("deep[0][0][0]")
    assert losses[0].reason == "nested deeper than 400"
    assert len(losses[0].path) <= 310


@dataclass
class Point:
    x: int
    y: list[object] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Slotted:
    a: object
    b: int = 2


class Colour(enum.IntEnum):
    RED = 1


class Pair(NamedTuple):
    left: int
    right: object


Old = namedtuple("Old", "a b")


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    name: str
    tags: list[str] = []

    def model_dump(self, *args: object, **more: object) -> dict[str, Any]:
        raise AssertionError("called while saving")


@pytest.mark.case("K11")
def test_instances_come_back_as_records_of_their_fields() -> None:
    found, losses = save(
        points=[Point(1), Point(2, [3])], slotted=Slotted(1), colour=Colour.RED, pair=Pair(1, "r"), old=Old(1, 2),
        model=Model.model_validate({"name": "m", "tags": ["t"], "more": 1}),
    )  # fmt: skip
    first: Record = found["points"][0]
    assert (first.kind, first.type_name, first.fields) == ("dataclass", f"{__name__}.Point", {"x": 1, "y": []})
    assert found["slotted"].fields == {"a": 1, "b": 2}
    assert (found["colour"].kind, found["colour"].fields) == ("enum", {"name": "RED", "value": 1})
    assert (found["pair"].kind, found["pair"].fields) == ("namedtuple", {"left": 1, "right": "r"})
    assert found["old"].fields == {"a": 1, "b": 2}
    assert (found["model"].kind, found["model"].fields) == ("pydantic", {"name": "m", "tags": ["t"], "more": 1})
    assert [(loss.path, loss.kind) for loss in losses if loss.variable == "points"] == [("points[0]", "record")]


def test_a_record_keeps_its_cycle_and_can_be_a_key() -> None:
    point = Point(1)
    point.y.append(point)
    frozen = Slotted(1)
    found, _ = save(point=point, keyed={frozen: 1}, some={frozen, Colour.RED})
    assert found["point"].fields["y"][0] is found["point"]
    [key] = found["keyed"]
    assert key in found["some"]


class Tripwire(type):
    """A class of classes that ends the test when anything of it is run."""

    def __hash__(cls) -> int:
        raise AssertionError("hash of the class was taken")

    def __eq__(cls, other: object) -> bool:
        raise AssertionError("the class was compared")

    def __instancecheck__(cls, instance: object) -> bool:
        raise AssertionError("isinstance was asked")


def _trip(self: object, *args: object) -> Any:
    raise AssertionError("code of the value was run while saving")


_NAMES = [
    "repr",
    "str",
    "getattr",
    "getattribute",
    "reduce",
    "reduce_ex",
    "getstate",
    "iter",
    "len",
    "bool",
    "eq",
    "hash",
    "deepcopy",
    "copy",
    "dir",
    "format",
    "array",
]
TRAPS = {f"__{name}__": _trip for name in _NAMES}


def test_no_code_of_a_value_is_run_while_saving() -> None:
    hostile: Any = Tripwire("Hostile", (), {**TRAPS, "__class__": property(_trip), "__dict__": property(_trip)})
    listed = type("Listed", (list,), dict(TRAPS))
    made: Any = dataclass(eq=False, repr=False)(type("Made", (), {"__annotations__": {"x": int}, "x": 0, **TRAPS}))
    instance = object.__new__(made)
    object.__setattr__(instance, "x", 5)
    found, losses = save(
        a=[object.__new__(hostile)], b=list.__new__(listed), c={"k": instance}, d=hostile, ok=1,
        e=[object.__new__(hostile) for _ in range(40)],
    )  # fmt: skip
    assert {loss.variable for loss in losses if loss.kind == "lost"} == {"a", "b", "e"}
    assert found["c"]["k"].fields == {"x": 5}
    assert found["ok"] == 1
    assert type(found["d"]) is Inert


class OddZone(tzinfo):
    def utcoffset(self, when: datetime | None) -> timedelta:
        return timedelta(0)

    def dst(self, when: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, when: datetime | None) -> str:
        return "odd"


class Subclass(dict[str, int]):
    pass


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (defaultdict(lambda: 0, a=1), "factory"),
        (np.array([1, "a"], object), "Python objects"),
        (datetime(2020, 1, 1, tzinfo=OddZone()), "time zone"),
        (slice(slice(1), None), "slice of slices"),
        (Subclass(a=1), "Subclass"),
        (np.ma.masked_array([1], [True]), "MaskedArray"),
        (memoryview(b"a"), "memoryview"),
        (re.compile("[\u0100-\ud000]" * 900), "too long to compile"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_would_come_back_as_something_else_is_lost(value: object, reason: str) -> None:
    found, losses = save(x=[value])
    assert found == {}
    assert losses[0].path == "x[0]"
    assert reason in losses[0].reason


def test_attributes_added_to_a_counter_are_not_lost_silently() -> None:
    counted = Counter("a")
    counted.note = "mine"  # type: ignore[attr-defined]
    ordered = OrderedDict(a=1)
    ordered.note = "mine"  # type: ignore[attr-defined]
    _, losses = save(x=counted, y=ordered)
    assert [loss.variable for loss in losses] == ["x", "y"]


def test_in_a_part_only_the_thing_itself_is_replaced() -> None:
    message = {"role": "user", "content": [threading.Lock(), "text"]}
    found, losses = save(parts={"messages": [message, {"role": "tool"}]}, same=1)
    content = found["messages"][0]["content"]
    assert type(content[0]) is Unsaved
    assert content[0].type_name == "_thread.lock"
    assert content[1] == "text"
    assert [loss.path for loss in losses] == ["messages[0].content[0]"]


def test_what_a_lost_variable_held_is_saved_with_the_next_that_holds_it() -> None:
    held = {"k": [1]}
    found, losses = save(bad=[held, threading.Lock()], good=[held], other=held)
    assert [loss.variable for loss in losses] == ["bad"]
    assert found["good"][0] is found["other"]
    assert found["other"] == {"k": [1]}


def test_a_variable_too_large_to_be_read_again_is_lost_now() -> None:
    limits = Limits(section_bytes=10_000, memory_bytes=100_000)
    large = "x" * 20_000
    many: list[list[int]] = [[] for _ in range(2_000)]
    sources = [Source("large", large), Source("again", [large]), Source("many", many), Source("ok", [1])]
    encoded = encode_units(sources, limits=limits)
    assert [unit.facts.name for unit in encoded.units] == ["ok"]
    assert sorted(loss.variable for loss in encoded.losses) == ["again", "large", "many"]
    assert encoded.pools == ()


def test_a_deep_caller_can_still_save() -> None:
    def from_depth(depth: int) -> object:
        return from_depth(depth - 1) if depth else save(x=[[[[1]]]], y={"a": ({2},)})[0]

    assert from_depth(900) == {"x": [[[[1]]]], "y": {"a": ({2},)}}


def test_a_long_chain_of_deques_is_lost_since_it_could_not_be_read() -> None:
    chain: list[deque[object]] = [deque()]
    for _ in range(500):
        chain.append(deque([chain[-1]]))
    _, losses = save(chain=chain, short=chain[:300])
    assert [(loss.variable, loss.kind) for loss in losses] == [("chain", "lost")]
    assert "400 deques" in losses[0].reason
