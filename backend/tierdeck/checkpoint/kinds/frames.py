"""pandas and polars frames, through Arrow's own stream of plain types. Pure; optional.

An Arrow stream can name extension types, whose classes have run code on reading (CVE-2023-47248): a schema with
any, or with metadata that names one, is refused before a row is read.
"""

from __future__ import annotations

import importlib
import json
from importlib.util import find_spec
from typing import Any

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.class_facts import is_one_of, loaded, type_name
from tierdeck.checkpoint.kinds.loss import UnsaveableError
from tierdeck.checkpoint.kinds.records import Placeholder
from tierdeck.checkpoint.kinds.scalars import Node, checked_bytes

_OLDEST_ARROW = (14, 0, 1)
_KINDS = {
    ("pandas", "DataFrame"): ("pandas.core.frame", "DataFrame"),
    ("polars", "DataFrame"): ("polars.dataframe.frame", "DataFrame"),
    ("polars", "Series"): ("polars.series.series", "Series"),
}
_STEPS_KEY = b"tierdeck.freq"
_MAX_STEPS_BYTES = 200
_PLAIN = (str, int, float, bool, type(None))
_EXTENSION_KEY = b"ARROW:extension"


def frame_kind(kind: type) -> tuple[str, str] | None:
    """Library and kind when the class is a frame's that we know; imports nothing."""
    for name, place in _KINDS.items():
        if loaded(*place) is kind:
            return name
    return None


def frame_node(frame: object) -> Node:
    """The frame as `[tag, library, kind, Arrow stream]`.

    Raises:
        UnsaveableError: pyarrow is not there, or the frame would come back as another one.
    """
    found = frame_kind(type(frame))
    if found is None or not _has_arrow():
        raise UnsaveableError(f"{type_name(type(frame))} needs pyarrow 14.0.1 or newer to be saved")
    try:
        data = _stream_of(_table_of(found, frame))
        back = _frame_of(found, _read_table(data))
    except _arrow_errors() as e:
        raise UnsaveableError(f"Arrow does not hold this frame: {str(e)[:120]}") from e
    if not _is_same(found, frame, back):
        raise UnsaveableError("Arrow gives another frame back: its columns hold objects, or an index of its own")
    return [tags.FRAME, *found, data]


def known_frame(library: object, kind: object) -> tuple[str, str]:
    """Library and kind, when they are ones that are read.

    Raises:
        ValueError: they are not.
    """
    found = (str(library), str(kind))
    if found not in _KINDS:
        raise ValueError(f"{str(found)[:60]} is no frame")
    return found


def make_frame(library: object, kind: object, data: object) -> object:
    """The frame; a Placeholder when its library is not there.

    Raises:
        ValueError: it is no stream of plain types.
    """
    found = known_frame(library, kind)
    raw = checked_bytes(data)
    if not _has_arrow() or find_spec(found[0]) is None:
        return Placeholder(tags.FRAME, (library, kind, data), f"{found[0]} and pyarrow are needed to read it")
    try:
        return _frame_of(found, _read_table(raw))
    except _arrow_errors() as e:
        raise ValueError(f"no Arrow stream: {str(e)[:120]}") from e


def _has_arrow() -> bool:
    if find_spec("pyarrow") is None:
        return False
    version = str(_module("pyarrow").__version__).split(".")
    return tuple(int(part) for part in version[:3] if part.isdigit()) >= _OLDEST_ARROW


def _module(name: str) -> Any:
    # Only ever one of our own literals: pyarrow, pyarrow.ipc, and the libraries of `_KINDS`.
    return importlib.import_module(name)


def _arrow_errors() -> tuple[type[Exception], ...]:
    arrow_error: type[Exception] = _module("pyarrow").ArrowException
    return (arrow_error, ValueError, TypeError, KeyError, OverflowError, NotImplementedError)


def _table_of(found: tuple[str, str], frame: Any) -> Any:
    if found[0] == "pandas":
        table = _module("pyarrow").Table.from_pandas(frame)
        steps = json.dumps(_steps(frame))  # Arrow keeps the times, and not that they follow each other by a rule
        return table.replace_schema_metadata({**(table.schema.metadata or {}), _STEPS_KEY: steps})
    return (frame.to_frame() if found[1] == "Series" else frame).to_arrow()


def _frame_of(found: tuple[str, str], table: Any) -> Any:
    if found[0] == "pandas":
        return _with_steps(table.to_pandas(), (table.schema.metadata or {}).get(_STEPS_KEY, b"[]"))
    frame = _module("polars").from_arrow(table)
    return frame.to_series(0) if found[1] == "Series" else frame


def _is_same(found: tuple[str, str], frame: Any, back: Any) -> bool:
    if found[0] == "pandas":
        return bool(
            back.equals(frame)
            and list(back.dtypes) == list(frame.dtypes)
            and back.index.equals(frame.index)
            and _names(back) == _names(frame)
            and _steps(back) == _steps(frame)
            and _has_plain_attributes(frame)
            and _object_types(back) == _object_types(frame)
        )
    same_type = back.dtype == frame.dtype if found[1] == "Series" else back.schema == frame.schema
    return bool(same_type and back.equals(frame, null_equal=True))


def _steps(frame: Any) -> list[str | None]:
    """The frequency of its rows and of its columns, where those are times at even steps; None elsewhere."""
    return [getattr(axis, "freqstr", None) for axis in (frame.index, frame.columns)]


def _with_steps(frame: Any, steps: bytes) -> Any:
    """Give the axes their frequencies back; pandas refuses one that the times don't have (ValueError)."""
    if len(steps) > _MAX_STEPS_BYTES:
        raise ValueError(f"{len(steps):,} bytes for the frequencies of two axes")
    for axis, step in zip((frame.index, frame.columns), json.loads(steps), strict=False):
        if type(step) is str and getattr(axis, "freqstr", step) is None:
            axis.freq = step
    return frame


def _names(frame: Any) -> list[tuple[type, object]]:
    return [(type(name), name) for axis in (frame.index, frame.columns) for name in axis.names]


def _has_plain_attributes(frame: Any) -> bool:
    """Whether `attrs`, which go through JSON, come back as they are."""
    return all(type(key) is str and is_one_of(type(value), _PLAIN) for key, value in frame.attrs.items())


def _object_types(frame: Any) -> list[list[type]]:
    """Of each column of objects, their types: equal values of other types come back from Arrow."""
    return [list(map(type, column)) for _, column in frame.items() if column.dtype == object]


def _stream_of(table: Any) -> bytes:
    sink = _module("pyarrow").BufferOutputStream()
    with _module("pyarrow.ipc").new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _read_table(data: bytes) -> Any:
    if _EXTENSION_KEY in data:
        raise ValueError("it names an extension type")
    with _module("pyarrow.ipc").open_stream(data) as reader:
        return reader.read_all()
