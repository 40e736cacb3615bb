"""Tables, rows of plain values, are encoded at once: what comes of it is what each row by itself gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tierdeck.checkpoint.every_value import round_trip, same
from tierdeck.checkpoint.limits import SHARED_FROM
from tierdeck.checkpoint.values import walk
from tierdeck.checkpoint.values.encode import encode_units
from tierdeck.checkpoint.values.nodes import Source
from tierdeck.checkpoint.values.plain import row_node, table_nodes

COLUMNS = (
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=20),
    st.booleans(),
    st.none(),
)


@st.composite
def tables(draw: st.DrawFn) -> list[object]:
    """From 1 to 40 rows of the same keys, each column of one type."""
    keys = draw(st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True))
    kinds = [draw(st.sampled_from(COLUMNS)) for _ in keys]
    count = draw(st.integers(1, 40))
    return [{key: draw(kind) for key, kind in zip(keys, kinds, strict=True)} for _ in range(count)]


@given(tables())
def test_a_tables_nodes_are_those_of_its_rows(rows: list[object]) -> None:
    found = table_nodes(rows)
    assert found is not None
    assert repr(found) == repr([row_node(row) for row in rows])  # type: ignore[arg-type]  # each a dict


class Shouting:
    """A key that tells when it is compared or hashed to compare it."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        return 1


class Row(dict[str, object]):
    """A row of a class of its own."""


def equal_text() -> str:
    """Equal each time, and each time another object."""
    return "".join(["ke", "y"])


@pytest.mark.parametrize(
    "rows",
    [
        [{"a": 1}, {"a": "x"}],
        [{"a": 1}, {"a": True}],
        [{"a": 1}, {"b": 1}],
        [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
        [{"a": 1}, {"a": 1, "b": 2}],
        [{"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": 2, "c": 3}],
        [{"a": 1}, [1]],
        [{"a": 1}, Row(a=1)],
        [{}, {}],
        [{"a": 2**64}],
        [{"a": "x" * SHARED_FROM}],
        [{"x" * SHARED_FROM: 1}],
        [{1: 1}],
        [{"a": [1]}],
        [{"a": 1}, {Shouting(): 1}],
        [{Shouting(): 1}, {Shouting(): 1}],
        [{equal_text(): 1}, {equal_text(): 1}],
    ],
    ids=range(17),
)
def test_what_is_no_table_is_left_to_be_looked_at_row_by_row(rows: list[object]) -> None:
    assert table_nodes(rows) is None


def encoded(value: object) -> tuple[Any, ...]:
    """All that is encoded of a value, that its sizes and losses are the same too."""
    made = encode_units([Source("x", value), Source("y", value)])
    return [(unit.raw, unit.facts.objects) for unit in made.units], [pool.raw for pool in made.pools], made.losses


@pytest.mark.parametrize("is_twice", [False, True], ids=["each row once", "one row twice"])
def test_a_table_in_a_session_has_the_bytes_that_its_rows_have(
    is_twice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[object] = [{"id": number, "text": f"text {number}", "score": number / 7} for number in range(50)]
    if is_twice:
        rows[40] = rows[3]
    value = {"rows": rows, "again": [rows[7], rows]}
    at_once = encoded(value)
    assert same(round_trip(x=value)["x"], value)
    monkeypatch.setattr(walk, "table_nodes", lambda _: None)
    assert encoded(value) == at_once
