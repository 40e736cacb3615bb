"""A value out of a checkpoint as JSON: exact where JSON has the type, else an object that names the type. Pure.

1, "text", [1], {"a": 1}                              stand for themselves
{"$type": "tuple", "items": [1, 2]}                   also set, frozenset, deque
{"$type": "dict", "pairs": [[key, value]]}            keys that are no text; also Counter and its like
{"$type": "bytes", "base64": "…"}                     also bytearray
{"$type": "again", "path": "['a'][0]"}                the object that stands there already, or holds this one
{"$type": "deep", "preview": "…"}                     beyond the depth or the number that are written
{"$type": "unread", "why": "…"}                       a stored value that is damaged, or beyond a limit
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tierdeck.checkpoint import CONSOLE_LIMITS, Inert, Placeholder, Record, Unsaved
from tierdeck.checkpoint.journal import StoredValue
from tierdeck.checkpoint.values.preview import preview
from tierdeck.errors import CheckpointError
from tierdeck_tui.view.checkpoint.value import leaf_text

# Each level takes up to four of Python's frames in the writer of JSON, and a thousand is all there is.
MAX_DEPTH = 100
MAX_NODES = 500_000
_MAX_INT_BITS = 14_000  # Python refuses to print more than 4,300 digits
_TYPE = "$type"


@dataclass(frozen=True, slots=True)
class ValueForm:
    """The form, and whether all of the value is in it."""

    form: object
    is_whole: bool


@dataclass(slots=True)
class _Forming:
    first: dict[int, str] = field(default_factory=dict)
    nodes: int = 0
    is_whole: bool = True


def value_form(value: object) -> ValueForm:
    """The value's JSON form, at most 100 levels deep and 500,000 things long."""
    forming = _Forming()
    form = _form(value, "", 0, forming)
    return ValueForm(form, forming.is_whole)


def stored_form(stored: StoredValue | None) -> object:
    """The form of a value that lies in a journal or a request, read by the console's limits; None for none."""
    if stored is None:
        return None
    try:
        return value_form(stored.value(CONSOLE_LIMITS)).form
    except CheckpointError as e:
        return {_TYPE: "unread", "why": e.message}


def _form(value: object, path: str, depth: int, forming: _Forming) -> object:
    forming.nodes += 1
    if value is None or isinstance(value, bool | str) or type(value) is float:
        return value
    if type(value) is int:
        return _int_form(value)
    if isinstance(value, bytes | bytearray):
        return {_TYPE: type(value).__name__, "base64": base64.b64encode(value).decode("ascii")}
    if not isinstance(value, Mapping | AbstractSet | list | tuple | deque | Record | Placeholder):
        return _whole_form(value)
    if id(value) in forming.first:
        return {_TYPE: "again", "path": forming.first[id(value)]}
    if depth >= MAX_DEPTH or forming.nodes > MAX_NODES:
        forming.is_whole = False
        return {_TYPE: "deep", "preview": preview(value)}
    forming.first[id(value)] = path
    return _container_form(value, path, depth + 1, forming)


def _container_form(value: object, path: str, depth: int, forming: _Forming) -> object:
    if isinstance(value, Record):
        fields = {name: _form(each, f"{path}.{name}", depth, forming) for name, each in value.fields.items()}
        return {_TYPE: value.kind, "class": value.type_name, "fields": fields}
    if isinstance(value, Placeholder):
        return {_TYPE: "placeholder", "tag": value.tag, "why": value.why}
    if isinstance(value, Mapping):
        return _mapping_form(value, path, depth, forming)
    assert isinstance(value, AbstractSet | list | tuple | deque)  # noqa: S101 - `_form` has seen it
    items = [_form(each, f"{path}[{number}]", depth, forming) for number, each in enumerate(value)]
    if type(value) is list:
        return items
    bound = {"maxlen": value.maxlen} if isinstance(value, deque) else {}
    return {_TYPE: type(value).__name__, **bound, "items": items}


def _mapping_form(value: Mapping[object, object], path: str, depth: int, forming: _Forming) -> object:
    formed = [(key, _form(each, f"{path}[{preview(key)}]", depth, forming)) for key, each in value.items()]
    if type(value) is dict and all(type(key) is str for key in value) and _TYPE not in value:
        return dict(formed)
    pairs = [[_form(key, f"{path}.key", depth, forming), each] for key, each in formed]
    return {_TYPE: type(value).__name__, "pairs": pairs}


def _int_form(value: int) -> object:
    return value if value.bit_length() <= _MAX_INT_BITS else {_TYPE: "int", "hex": hex(value)}


def _whole_form(value: object) -> object:
    """What has no parts and is none of JSON's: its type, and its text or bytes."""
    if isinstance(value, Inert):
        return {_TYPE: value.kind, "name": value.name, "source": value.source}
    if isinstance(value, Unsaved):
        return {_TYPE: "unsaved", "class": value.type_name, "reason": value.reason}
    kind = type(value)
    if kind.__module__.partition(".")[0] == "numpy":
        return {_TYPE: f"numpy.{kind.__name__}", **_array_fields(value)}
    if kind.__module__.partition(".")[0] in ("pandas", "polars"):
        return {_TYPE: f"{kind.__module__.partition('.')[0]}.{kind.__name__}", "preview": preview(value)}
    return {_TYPE: kind.__name__, "text": leaf_text(value)}


def _array_fields(value: object) -> dict[str, object]:
    import numpy as np  # loaded already, as the value is one of its

    array = np.asarray(value)
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
    return {"dtype": str(array.dtype), "shape": list(array.shape), "base64": data}
