"""numpy arrays: nothing of the process's memory but their values goes into a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tierdeck.checkpoint.every_value import round_trip
from tierdeck.checkpoint.kinds.arrays import array_node, scalar_node


@pytest.mark.parametrize("kind", ["longdouble", "clongdouble"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_equal_long_doubles_give_equal_bytes_whatever_lay_beside_them(kind: str, order: str) -> None:
    one = np.zeros((3, 4), kind, order=order)  # type: ignore[call-overload]
    other = np.empty((3, 4), kind, order=order)  # type: ignore[call-overload]
    (other.T if order == "F" else other).reshape(-1).view("u1")[:] = 0xAA
    other[...] = 1
    one[...] = 1
    assert array_node(one) == array_node(other)
    assert scalar_node(one[0, 0]) == scalar_node(other[0, 0])
    assert is_same(round_trip(x=other)["x"], other)


def test_neither_gaps_between_fields_nor_long_doubles_in_them_take_memory_along() -> None:
    inner = np.dtype([("x", "i1"), ("y", "g", (2,))], align=True)
    kind = np.dtype([("a", "g"), ("b", "i4"), ("c", inner), ("d", "G"), ("e", "S3")], align=True)
    one, other = np.zeros(3, kind), np.empty(3, kind)
    other.view("u1")[:] = 0xAA
    for array in (one, other):
        for name in ("a", "b", "d"):
            array[name] = 7
        array["c"]["x"], array["c"]["y"], array["e"] = 1, 2, b"xyz"
    assert array_node(one) == array_node(other)
    assert is_same(round_trip(x=other)["x"], other)
    assert scalar_node(one[0]) == scalar_node(other[0])


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (5,)])
def test_long_doubles_of_every_shape_come_back(shape: tuple[int, ...]) -> None:
    array = np.full(shape, np.longdouble("1.1"))
    assert is_same(round_trip(x=array)["x"], array)
    assert is_same(round_trip(x=np.arange(10, dtype="g")[::2])["x"], np.arange(10, dtype="g")[::2])


def is_same(found: Any, wanted: Any) -> bool:
    """By their values: what lies beside those is memory that nobody wrote."""
    return found.dtype == wanted.dtype and found.shape == wanted.shape and bool(np.array_equal(found, wanted))
