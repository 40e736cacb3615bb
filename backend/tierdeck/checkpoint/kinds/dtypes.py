"""What an array is made of, as text and tuples, and back. Pure; numpy is loaded when the first one is met."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tierdeck.checkpoint.kinds.loss import UnsaveableError
from tierdeck.checkpoint.kinds.scalars import checked_int

if TYPE_CHECKING:
    import numpy as np

_KINDS = frozenset("biufcmMSUV")  # and "?", whose kind is b; not O (pointers), not T (text that lies elsewhere)
_MAX_NESTED = 16
# What `dtype.str` gives, and no more: numpy's own parser takes comma lists, aliases and names of types.
_PLAIN = re.compile(r"[<>|][biufcSUV][0-9]{1,9}|[<>][mM]8(\[[0-9]{0,9}[A-Za-z]{1,3}\])?")
_MAX_TEXT = 100


def dtype_spec(dtype: np.dtype) -> object:
    """The type as a value: text, or tuples of text and numbers.

    Raises:
        UnsaveableError: it holds pointers, or would come back as another type.
    """
    spec = _spec(dtype, 0)
    try:
        back = make_dtype(spec)
    except (ValueError, TypeError) as e:
        raise UnsaveableError(f"an array of {str(dtype)[:_MAX_TEXT]}: {e}") from e
    if back != dtype or back.type is not dtype.type or back.isalignedstruct != dtype.isalignedstruct:
        raise UnsaveableError(f"an array of {str(dtype)[:_MAX_TEXT]}, which numpy alone does not give back")
    return spec


def make_dtype(spec: object) -> np.dtype:
    """The type that `dtype_spec` told of.

    Raises:
        ValueError, TypeError: it tells of none, or of one that is not saved.
    """
    dtype = _dtype(spec, 0)
    if dtype.itemsize == 0:
        raise ValueError("items of no size")
    return dtype


def _spec(dtype: np.dtype, nested: int) -> object:
    if dtype.hasobject or dtype.kind not in _KINDS:
        raise UnsaveableError(f"an array of {str(dtype)[:_MAX_TEXT]} holds Python objects, not data")
    if nested > _MAX_NESTED:
        raise UnsaveableError(f"an array type nested deeper than {_MAX_NESTED}")
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        return ("array", _spec(inner, nested + 1), tuple(shape))
    if dtype.fields is None:
        return dtype.str
    names = dtype.names or ()
    fields = [dtype.fields[name] for name in names]
    return (
        "struct",
        names,
        tuple(_spec(field[0], nested + 1) for field in fields),
        tuple(field[1] for field in fields),
        tuple(field[2] if len(field) > 2 else None for field in fields),
        dtype.itemsize,
        dtype.isalignedstruct,
    )


def _dtype(spec: object, nested: int) -> np.dtype:
    import numpy as np

    if nested > _MAX_NESTED:
        raise ValueError("an array type nested too deep")
    if type(spec) is str:
        if not _PLAIN.fullmatch(spec):
            raise ValueError("no array type that is read")
        return np.dtype(spec)
    if type(spec) is not tuple or len(spec) not in (3, 7):
        raise ValueError("no array type")
    if spec[0] == "array" and len(spec) == 3:
        return np.dtype((_dtype(spec[1], nested + 1), tuple(checked_int(n, 0) for n in _items(spec[2]))))
    if spec[0] != "struct" or len(spec) != 7:
        raise ValueError("no array type")
    names, formats, offsets, titles, size, aligned = spec[1:]
    layout = {
        "names": [_text(name) for name in _items(names)],
        "formats": [_dtype(each, nested + 1) for each in _items(formats)],
        "offsets": [checked_int(offset, 0) for offset in _items(offsets)],
        "titles": [None if title is None else _text(title) for title in _items(titles)],
        "itemsize": checked_int(size, 0),
    }
    return np.dtype(layout, align=aligned is True)  # type: ignore[call-overload, no-any-return]


def _items(value: object) -> tuple[object, ...]:
    if type(value) is not tuple:
        raise ValueError("an array type without its parts")
    return value


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError("an array type without a name")
    return value
