"""numpy arrays and their scalars, byte for byte. Pure; numpy is loaded when the first one is met.

Nothing here goes through `np.load` or `np.save`: those read pickles, and write pointers for objects.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.dtypes import dtype_spec, make_dtype
from tierdeck.checkpoint.kinds.loss import UnsaveableError
from tierdeck.checkpoint.kinds.pieces import LONG_FROM, Long
from tierdeck.checkpoint.kinds.scalars import Node, checked_bytes, checked_int

if TYPE_CHECKING:
    import numpy as np

_MAX_DIMENSIONS = 64
_BITS_OF_80 = 63  # of the mantissa of a long double of 10 bytes


def _array_operands(array: np.ndarray) -> tuple[object, tuple[int, ...], str, bytes | memoryview]:
    """`(dtype, shape, order, data)` of an array; dtype and shape are values still to be encoded.

    Raises:
        UnsaveableError: it holds Python objects, or its type would come back as another one.
    """
    spec = dtype_spec(array.dtype)
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    array = _without_gaps(array, order)
    return spec, tuple(array.shape), order, _data(array.T if order == "F" else array)


def _without_gaps(array: np.ndarray, order: str) -> np.ndarray:
    """The array, or a copy where its items have gaps: those are whatever memory held, other data of the process.

    Such data would come with a file, and give it another digest each time.
    """
    import numpy as np

    if array.dtype.fields is not None:
        clean = np.zeros(array.shape, array.dtype, order="F" if order == "F" else "C")
        for name in array.dtype.names or ():
            clean[name] = _without_gaps(array[name], "C")
        return clean
    return _without_padding(array, order) if array.dtype.char in "gG" else array


def _without_padding(array: np.ndarray, order: str) -> np.ndarray:
    """A copy of an array of long doubles; where those have 80 bits, six of their 16 bytes are a gap."""
    import numpy as np

    clean = np.array(array, order="F" if order == "F" else "C")
    if np.finfo(np.longdouble).nmant == _BITS_OF_80:
        size = np.dtype(np.longdouble).itemsize
        numbers = (clean.T if order == "F" else clean).reshape(-1).view("u1").reshape(-1, size)
        numbers[:, 10:] = 0
    return clean


def _data(array: np.ndarray) -> bytes | memoryview:
    """The array's bytes in its own order; looked at where they lie when they are all there is."""
    if array.flags.c_contiguous and array.size:
        return array.reshape(-1).view("u1").data
    return array.tobytes()


def make_array(spec: object, shape: object, order: object, data: object) -> np.ndarray:
    """The array, in memory of its own, writable.

    Raises:
        ValueError, TypeError: the operands don't fit each other.
    """
    import numpy as np

    dtype = make_dtype(spec)
    if type(shape) is not tuple or len(shape) > _MAX_DIMENSIONS or order not in ("C", "F"):
        raise ValueError("an array without a shape")
    sizes = tuple(checked_int(size, 0) for size in shape)
    raw = checked_bytes(data)
    if math.prod(sizes) * dtype.itemsize != len(raw):
        raise ValueError(f"an array of shape {str(sizes)[:60]} with {len(raw)} bytes")
    order_: str = "F" if order == "F" else "C"
    if not raw:
        return np.empty(sizes, dtype, order_)  # type: ignore[call-overload, no-any-return]
    flat = np.frombuffer(raw, dtype)
    return flat.reshape(sizes, order=order_).copy(order_)  # type: ignore[call-overload, no-any-return]


def _scalar_operands(scalar: np.generic) -> tuple[object, ...]:
    """`(dtype, data)` of a numpy scalar; text and bytes carry themselves, since an empty one has no size."""
    import numpy as np

    if type(scalar) is np.str_:
        return "U", str.__str__(scalar)
    if type(scalar) is np.bytes_:
        return "S", bytes(memoryview(scalar))
    array = np.asarray(scalar)
    spec, _, _, view = _array_operands(array)
    data = bytes(view)
    back: object = make_array(spec, (), "C", data)[()]
    if type(back) is not type(scalar):
        raise UnsaveableError("a scalar that numpy alone does not give back")
    return spec, data


def make_scalar(spec: object, data: object) -> object:
    """The scalar; raises as `make_array`."""
    import numpy as np

    if spec == "U" and type(data) is str:
        return np.str_(data)
    if spec == "S" and type(data) is bytes:
        return np.bytes_(data)
    return make_array(spec, (), "C", data)[()]


def array_node(array: np.ndarray) -> Node:
    """The array as a node; raises as `dtype_spec`."""
    spec, shape, order, data = _array_operands(array)
    copied = bytes(data)  # the agent goes on writing into the array
    kept = Long(copied) if len(copied) >= LONG_FROM else copied
    return [tags.ARRAY, _plain_node(spec), _plain_node(shape), order, kept]


def scalar_node(scalar: np.generic) -> Node:
    """The scalar as a node; raises as `dtype_spec`."""
    spec, data = _scalar_operands(scalar)
    return [tags.ARRAY_SCALAR, _plain_node(spec), data]


def _plain_node(value: object) -> object:
    """Tuples of text and numbers, as types and shapes are; at most `dtypes` deep."""
    return [tags.TUPLE, *map(_plain_node, value)] if isinstance(value, tuple) else value
