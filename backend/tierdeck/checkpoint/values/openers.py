"""A value as the flat list that stands for it, its contents still as they are: the first step of encoding. Pure.

The list of types is closed and exact: a subclass is another type. What is none of them raises UnsaveableError.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from itertools import chain
from types import CodeType
from typing import Any

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.arrays import array_node, scalar_node
from tierdeck.checkpoint.kinds.class_facts import comes_from, found_by, loaded, type_name
from tierdeck.checkpoint.kinds.frames import frame_kind, frame_node
from tierdeck.checkpoint.kinds.instances import code_of, inert_of, record_kind, record_of
from tierdeck.checkpoint.kinds.loss import UnsaveableError
from tierdeck.checkpoint.kinds.moments import MOMENT_NODES
from tierdeck.checkpoint.kinds.records import INERT_KINDS, RECORD_KINDS, Inert, Placeholder, Record, Unsaved
from tierdeck.checkpoint.kinds.scalars import SCALAR_NODES, Node
from tierdeck.checkpoint.kinds.set_order import sorted_items
from tierdeck.checkpoint.version import MINOR

# `(node, index of the first thing in it that is still to be encoded)`; 0 when nothing is.
Opened = tuple[Node, int]
Opener = Callable[[Any], Opened]
Sources = Mapping[CodeType, str]

FACTORIES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        bool, bytes, Counter, deque, dict, float, frozenset, int, list, OrderedDict, set, str, tuple,
    )
}  # fmt: skip
_NAME_OF_FACTORY: dict[type, str] = {factory: name for name, factory in FACTORIES.items()}
# No identity is kept for these: nobody tells two equal ones apart.
WITHOUT_IDENTITY: dict[type, Callable[..., Node]] = SCALAR_NODES | MOMENT_NODES


def _pairs(fixed: Node, value: Mapping[Any, object]) -> Opened:
    return [*fixed, *chain.from_iterable(value.items())], len(fixed)


def _with_no_attributes(value: object) -> None:
    if vars(value):
        raise UnsaveableError(f"a {type(value).__name__} with attributes of its own")


def _open_defaultdict(value: defaultdict[object, object]) -> Opened:
    factory = value.default_factory
    name = found_by(factory, _NAME_OF_FACTORY) if type(factory) is type else None
    if factory is not None and name is None:
        raise UnsaveableError("a defaultdict whose factory is none of the builtin types")
    return _pairs([tags.DEFAULTDICT, name], value)


def _open_counter(value: Counter[object]) -> Opened:
    _with_no_attributes(value)
    return _pairs([tags.COUNTER], value)


def _open_ordered(value: OrderedDict[object, object]) -> Opened:
    _with_no_attributes(value)
    return _pairs([tags.ORDERED_DICT], value)


def _open_slice(value: slice) -> Opened:
    operands = [value.start, value.stop, value.step]
    if any(type(operand) is slice for operand in operands):
        raise UnsaveableError("a slice of slices")
    return [tags.SLICE, *operands], 1


def _open_record(value: Record) -> Opened:
    fields = value.fields
    _must(
        _is_among(value.kind, RECORD_KINDS)
        and type(value.type_name) is str
        and type(fields) is dict
        and all(type(name) is str for name in fields),
        value,
    )
    return _pairs([tags.RECORD, value.kind, value.type_name], fields)


def _open_inert(value: Inert) -> Opened:
    source = value.source
    is_text = type(value.name) is str and (source is None or type(source) is str)
    _must(_is_among(value.kind, INERT_KINDS) and is_text, value)
    return [tags.INERT, value.kind, value.name, source], 0


def _open_unsaved(value: Unsaved) -> Opened:
    _must(type(value.type_name) is str and type(value.reason) is str, value)
    return [tags.UNSAVED, value.type_name, value.reason], 0


def _open_placeholder(value: Placeholder) -> Opened:
    tag, operands, fixed = value.tag, value.operands, value.fixed
    is_list = type(operands) is tuple or type(operands) is list
    is_whole = fixed is None or (type(fixed) is int and 0 <= fixed <= len(operands))
    is_newer = type(value.minor) is int and value.minor > MINOR
    _must(type(tag) is int and is_list and is_whole and (tag in tags.KNOWN or (tag > 0 and is_newer)), value)
    return [tag, *operands], 1


def _is_among(kind: object, kinds: frozenset[str]) -> bool:
    return type(kind) is str and kind in kinds


def _must(holds: bool, value: object) -> None:
    """One of ours that somebody has changed, or made, would come back as something else, or not at all."""
    if not holds:
        raise UnsaveableError(f"a {type(value).__name__} that no checkpoint gives back")


_OPENERS: dict[type, Opener] = {
    list: lambda value: ([tags.LIST, *value], 1),
    tuple: lambda value: ([tags.TUPLE, *value], 1),
    dict: lambda value: _pairs([tags.DICT], value),
    set: lambda value: ([tags.SET, *sorted_items(value)], 1),
    frozenset: lambda value: ([tags.FROZENSET, *sorted_items(value)], 1),
    deque: lambda value: ([tags.DEQUE, value.maxlen, *value], 2),
    defaultdict: _open_defaultdict,
    Counter: _open_counter,
    OrderedDict: _open_ordered,
    slice: _open_slice,
    bytearray: lambda value: ([tags.BYTEARRAY, bytes(value)], 0),
    Record: _open_record,
    Inert: _open_inert,
    Unsaved: _open_unsaved,
    Placeholder: _open_placeholder,
}


def opener_of(kind: type, sources: Sources) -> Opener:
    """What opens values of exactly this type; it raises UnsaveableError for those that can't be saved.

    Args:
        sources: the text of functions by their code, for those whose text is known.
    """
    found = found_by(kind, _OPENERS)
    if found is not None:
        return found
    if loaded("numpy", "ndarray") is kind:
        return lambda value: (array_node(value), 0)
    if frame_kind(kind) is not None:
        return lambda value: (frame_node(value), 0)
    as_record = record_kind(kind)
    if as_record is not None:
        return lambda value: _open_record(record_of(value, as_record))
    return lambda value: _open_other(value, sources)


def node_without_identity(kind: type) -> Callable[..., Node] | None:
    """What makes nodes of a type whose values have no identity to keep; None for the others."""
    found = found_by(kind, WITHOUT_IDENTITY)
    if found is None and comes_from(kind, loaded("numpy", "generic")):
        return scalar_node
    return found


def _open_other(value: object, sources: Sources) -> Opened:
    code = code_of(value)
    inert = inert_of(value, None if code is None else sources.get(code))
    if inert is None:
        raise UnsaveableError(f"{type_name(type(value))} is no type that can be saved")
    return _open_inert(inert)
