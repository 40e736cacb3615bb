"""Every type comes back as it was: type, content, and what is one object with what."""

from __future__ import annotations

import hashlib
import pathlib
import re
from collections import Counter, OrderedDict, defaultdict, deque
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tierdeck.checkpoint.every_value import VALUES, round_trip, same
from tierdeck.checkpoint.values.encode import encode_units
from tierdeck.checkpoint.values.nodes import Source


@pytest.mark.spec("SPEC-09.21")
@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_any_mixture_of_values_comes_back_exactly(value: object) -> None:
    encoded = encode_units([Source("x", value)])
    assert encoded.losses == ()
    assert same(round_trip(x=value)["x"], value)


@settings(max_examples=100, deadline=None)
@given(st.lists(VALUES, min_size=2, max_size=4), st.data())
def test_objects_in_several_places_stay_one_object(values: list[object], data: st.DataObject) -> None:
    picks = st.lists(st.sampled_from(values), max_size=4)
    a: list[object] = [*data.draw(picks), values[0], values[0]]
    b: dict[str, object] = {"a": a, "more": tuple(data.draw(picks)), "last": values[-1]}
    if data.draw(st.booleans()):
        a.append(b)
    found = round_trip(a=a, b=b, c=values[1], d=[a, b])
    assert same([found["a"], found["b"], found["c"], found["d"]], [a, b, values[1], [a, b]])


@pytest.mark.case("K01", "C05")
@pytest.mark.parametrize(
    "number",
    [
        2**70,
        -(2**64),
        10**5000,
        2**64,
        -(2**63) - 1,
        int(hashlib.sha256(b"x").hexdigest(), 16),
        -(2**127),
        2**64 - 1,
    ],
    ids=lambda number: f"{number.bit_length()} bits",
)  # fmt: skip
def test_an_int_of_any_size_is_exact(number: int) -> None:
    assert round_trip(x=number)["x"] == number
    assert round_trip(x={"in": [number]})["x"] == {"in": [number]}


@pytest.mark.case("K02", "K03")
@pytest.mark.parametrize(
    "value", [Fraction(1, 3), 1 + 2j, range(0, 10, 2), pathlib.PurePosixPath("/a"), Fraction(2**70, 3)], ids=repr
)
def test_numbers_ranges_and_paths_keep_their_type(value: object) -> None:
    found = round_trip(x=value)["x"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.case("C01", "K04")
@pytest.mark.parametrize(
    "value",
    [{(1, 2), (3, 4)}, frozenset({frozenset({1}), frozenset()}), {"a", 1, 2.5, None}, set(), {((1, (2,)),)}],
    ids=("of tuples", "of sets", "of several types", "empty", "nested"),
)
def test_a_set_of_anything_is_the_same_set(value: set[object]) -> None:
    found = round_trip(x=value, y=[value])
    assert found["x"] == value
    assert type(found["x"]) is type(value)
    assert found["y"] == [value]


@pytest.mark.case("C03", "K06")
def test_a_deque_keeps_its_bound() -> None:
    found: Any = round_trip(x=deque([1, 2, 3], maxlen=3), y=deque(maxlen=0), z=deque([1]))
    assert (found["x"].maxlen, found["y"].maxlen, found["z"].maxlen) == (3, 0, None)
    found["x"].append(4)
    assert list(found["x"]) == [2, 3, 4]


@pytest.mark.case("K05")
def test_a_dict_keeps_its_kind_and_its_factory() -> None:
    grouped = defaultdict(list, a=[1])
    found: Any = round_trip(x=grouped, y=Counter("aab"), z=OrderedDict(b=1, a=2))
    found["x"]["new"].append(1)
    assert found["x"] == {"a": [1], "new": [1]}
    assert found["y"] == Counter("aab")
    assert type(found["y"]) is Counter
    found["z"].move_to_end("b")
    assert list(found["z"]) == ["a", "b"]


@pytest.mark.case("K19")
@pytest.mark.parametrize("text", ["a\ud800", "\udfff", "\ud83d\ude00", "a\0b", "😀"], ids=ascii)
def test_text_with_half_characters_is_kept_exactly(text: str) -> None:
    assert round_trip(x=text, y={text: [text]}) == {"x": text, "y": {text: [text]}}


def test_an_alias_is_the_same_object_after_reading() -> None:
    context = "a long text " * 1000
    found: Any = round_trip(context=context, context_0=context, chunks=[context, "b"])
    assert found["context"] is found["context_0"]
    assert found["chunks"][0] is found["context"]


def test_long_text_that_stands_twice_is_written_once() -> None:
    context = "".join(map(chr, range(0x4E00, 0x9000)))
    one = sum(len(unit.raw) for unit in encode_units([Source("a", context)]).units)
    two = encode_units([Source("a", context), Source("b", [context, context])])
    assert sum(len(unit.raw) for unit in two.units) + sum(len(pool.raw) for pool in two.pools) < one + 100


def test_a_variable_has_at_most_one_pool_and_small_ones_none() -> None:
    config = {"k": [1]}
    encoded = encode_units(
        [Source("a", config), Source("b", [config]), Source("c", [1, [2]]), Source("d", {"e": 1})]
    )
    assert [unit.facts.pool for unit in encoded.units] == [0, 0, None, None]
    assert [unit.form for unit in encoded.units] == [0, 0, 0, 0]


def test_a_cycle_through_things_made_whole_comes_back() -> None:
    first: list[object] = []
    second: list[object] = []
    outer = (first, second)
    inner = (outer,)
    first.append(inner)
    second.append(inner)
    found: Any = round_trip(x=outer, y=[outer])
    made = found["x"]
    assert made[0] is not made[1]
    assert made[0][0] is made[1][0]
    assert made[0][0][0] is made is found["y"][0]


def test_a_cycle_through_two_variables_comes_back() -> None:
    a: dict[str, object] = {}
    b: list[object] = [a, (a, [a])]
    a["b"] = b
    found: Any = round_trip(a=a, b=b)
    assert found["a"]["b"] is found["b"]
    assert found["b"][0] is found["a"] is found["b"][1][1][0]


def test_a_pattern_matches_as_before() -> None:
    found: Any = round_trip(x=re.compile(r"(?P<n>\d+)\s", re.IGNORECASE | re.MULTILINE))
    assert found["x"].match("12 ")["n"] == "12"
    assert found["x"].flags == re.compile("", re.IGNORECASE | re.MULTILINE).flags


def test_a_chain_of_twenty_thousand_shared_objects_is_read_without_recursion() -> None:
    chain: list[object] = []
    links = [chain]
    for _ in range(20_000):
        links.append([links[-1]])
    found: Any = round_trip(x=links)
    assert found["x"][500][0] is found["x"][499]
