"""Instances instead of records, for a host that hands its classes over."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pydantic
import pytest

from tests.tierdeck.checkpoint.every_value import round_trip
from tierdeck.checkpoint.kinds.records import Record
from tierdeck.checkpoint.values.revive import with_classes


@dataclass
class Node:
    name: str
    links: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        assert self.name != "restored", "the constructor was called"


@dataclass(frozen=True, slots=True)
class Key:
    a: int
    b: object = None


class Colour(enum.Enum):
    RED = 1


class Other:
    class Colour(enum.Enum):
        BLUE = 1


class Pair(NamedTuple):
    left: object
    right: object


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    name: str
    key: Any = None


class Private(pydantic.BaseModel):
    name: str
    _secret: int = pydantic.PrivateAttr(default=5)


CLASSES = {f"{__name__}.{kind.__name__}": kind for kind in (Node, Key, Colour, Pair, Model, Private)}


def revived(**variables: object) -> dict[str, Any]:
    return with_classes(round_trip(**variables), CLASSES)


@pytest.mark.case("K11")
def test_each_kind_of_record_becomes_an_instance_again() -> None:
    model = Model.model_validate({"name": "m", "key": Key(1), "more": Pair(1, Colour.RED)})
    found = revived(a=[Node("x")], b=Key(1, (Pair(1, 2),)), c={Colour.RED: Colour.RED}, d=model)
    assert found["a"] == [Node("x")]
    assert found["b"] == Key(1, (Pair(1, 2),))
    assert found["c"] == {Colour.RED: Colour.RED}
    assert found["d"] == model
    assert type(found["d"].more) is Pair


def test_no_constructor_is_called() -> None:
    node = Node("first")
    node.name = "restored"
    assert revived(node=node)["node"].name == "restored"


def test_cycles_and_shared_instances_stay_what_they_are() -> None:
    one, two = Node("one"), Node("two")
    one.links += [two, one]
    two.links.append(one)
    loop: list[object] = []
    pair = Pair(loop, one)
    loop.append((pair, loop))
    found = revived(one=one, two=[two], loop=loop, pair=pair)
    assert found["one"].links[1] is found["one"] is found["two"][0].links[0]
    assert found["pair"].left is found["loop"]
    assert found["loop"][0][1] is found["loop"]
    assert found["pair"].right is found["one"]


def test_instances_can_be_looked_up_as_keys_again() -> None:
    key = Key(1, (Key(2), frozenset({Key(3)})))
    found = revived(table={key: "v"}, some={key, Key(9)}, again=[key, {key}], frozen=frozenset({key}))
    assert found["table"][key] == "v"
    assert found["some"] == {key, Key(9)}
    assert key in found["frozen"]
    assert found["again"][0] in found["again"][1]


def test_a_class_that_does_not_fit_leaves_the_record() -> None:
    found = round_trip(node=Node("x"), key=Key(1), colour=Colour.RED, private=Private(name="p"))
    changed: dict[str, Any] = with_classes(
        found, {**CLASSES, f"{__name__}.Node": Key, f"{__name__}.Colour": Other.Colour}
    )
    assert type(changed["node"]) is Record
    assert type(changed["colour"]) is Record
    assert type(changed["private"]) is Record
    assert changed["key"] == Key(1)
    assert type(with_classes(round_trip(x=[Node("x")]), {})["x"][0]) is Record  # type: ignore[index]
