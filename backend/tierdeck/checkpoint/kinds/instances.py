"""Instances of other people's classes as records: their declared fields, read without a line of theirs. Pure."""

from __future__ import annotations

import enum
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

from tierdeck.checkpoint.kinds.class_facts import (
    NO_FIELD,
    class_attribute,
    comes_from,
    instance_dict,
    is_one_of,
    loaded,
    stored_field,
    type_name,
)
from tierdeck.checkpoint.kinds.loss import UnsaveableError
from tierdeck.checkpoint.kinds.records import Inert, Record, RecordKind

_BUILTIN = (int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset, complex)
_module_dict: Callable[[object], dict[str, object]] = vars(ModuleType)["__dict__"].__get__


def record_kind(kind: type) -> RecordKind | None:
    """What kind of record an instance of the class becomes; None when it becomes none."""
    if comes_from(kind, enum.Enum):
        return "enum"
    if comes_from(kind, tuple):
        return "namedtuple" if _names(class_attribute(kind, "_fields")) is not None else None
    if comes_from(kind, *_BUILTIN):
        return None  # a record of its fields would hide what it holds besides
    if comes_from(kind, loaded("pydantic.main", "BaseModel")):
        return "pydantic"
    return "dataclass" if type(class_attribute(kind, "__dataclass_fields__")) is dict else None


def record_of(value: object, kind: RecordKind) -> Record:
    """The instance as a record; fields that are not set are left out.

    Raises:
        UnsaveableError: its fields are no longer what its class says.
    """
    read = {"enum": _enum, "namedtuple": _namedtuple, "pydantic": _pydantic, "dataclass": _dataclass}[kind]
    return Record(kind, type_name(type(value)), read(value))


def inert_of(value: object, source: str | None) -> Inert | None:
    """A module, function or class as text; None for anything else.

    Args:
        source: what the function was compiled from, when the caller knows it.
    """
    if comes_from(type(value), ModuleType):
        return Inert("module", _text(_module_dict(value).get("__name__")))
    if type(value) is FunctionType:
        return Inert("function", f"{_text(value.__module__)}.{_text(value.__qualname__)}", source)
    if type(value) is BuiltinFunctionType and is_one_of(type(value.__self__), (ModuleType, type(None))):
        module = _text(value.__module__ or "builtins")
        return Inert("function", f"{module}.{value.__qualname__}")
    if comes_from(type(value), type):
        return Inert("class", type_name(value))  # type: ignore[arg-type]  # it is one: `type` made it
    return None


def code_of(value: object) -> CodeType | None:
    """The code object of a plain function: what a recorded cell is compared with."""
    return value.__code__ if type(value) is FunctionType else None


def _enum(value: object) -> dict[str, object]:
    own = instance_dict(value)
    return {"name": own.get("_name_"), "value": own.get("_value_")}


def _namedtuple(value: object) -> dict[str, object]:
    names = _names(class_attribute(type(value), "_fields")) or ()
    assert isinstance(value, tuple)  # noqa: S101  # `record_kind` has seen it
    items = tuple.__getitem__(value, slice(None))
    if len(names) != len(items):
        raise UnsaveableError("a named tuple with other fields than its class names")
    return dict(zip(names, items, strict=True))


def _dataclass(value: object) -> dict[str, object]:
    declared = class_attribute(type(value), "__dataclass_fields__")
    assert type(declared) is dict  # noqa: S101  # `record_kind` has seen it
    own = instance_dict(value)
    found = {name: stored_field(value, own, name) for name in declared if type(name) is str}
    return {name: each for name, each in found.items() if each is not NO_FIELD}


def _pydantic(value: object) -> dict[str, object]:
    own = instance_dict(value)
    extra = stored_field(value, {}, "__pydantic_extra__")
    return {**own, **extra} if type(extra) is dict else dict(own)


def _names(fields: object) -> tuple[str, ...] | None:
    if type(fields) is tuple and all(type(name) is str for name in fields):
        return fields
    return None


def _text(value: object) -> str:
    return value if type(value) is str else "?"
