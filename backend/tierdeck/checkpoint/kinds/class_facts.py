"""What can be told of an object and its class without running a line of theirs. Pure.

`x in kinds` and a dict of classes would call `__eq__` and `__hash__` of a metaclass: classes are compared by `is`.
`getattr` would call properties, `__getattr__` of a metaclass, descriptors; `isinstance` a `__class__` property.
Here only the interpreter's own descriptors are called, on dictionaries that are read as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TypeVar

_T = TypeVar("_T")
_MISSING = object()
_plain_hash = object.__dict__["__hash__"]
_class_dict = type.__dict__["__dict__"].__get__
_class_mro = type.__dict__["__mro__"].__get__
_class_qualname = type.__dict__["__qualname__"].__get__
_class_module = type.__dict__["__module__"].__get__


def ancestry(kind: type) -> tuple[type, ...]:
    """The class and those it comes from, nearest first."""
    found: tuple[type, ...] = _class_mro(kind)
    return found


def comes_from(kind: type, *bases: object) -> bool:
    """Whether the class is one of these, or has one among its ancestors."""
    return any(each is base for each in ancestry(kind) for base in bases)


def is_one_of(kind: type, kinds: Iterable[object]) -> bool:
    """Whether the class is exactly one of these."""
    return any(kind is each for each in kinds)


def found_by(kind: type, table: Mapping[type, _T]) -> _T | None:
    """What the table has for exactly this class."""
    # A class whose metaclass has a hash of its own is none of ours, and looking it up would run that.
    return table.get(kind) if class_attribute(type(kind), "__hash__") is _plain_hash else None


def class_attribute(kind: type, name: str) -> object:
    """What the class or its nearest ancestor holds under the name, as it lies there; None without."""
    for each in ancestry(kind):
        found: object = _class_dict(each).get(name, _MISSING)
        if found is not _MISSING:
            return found
    return None


def type_name(kind: type) -> str:
    """`module.Class`, or only the name for a builtin."""
    # A name can be of a class that comes from `str`, whose own code must not run.
    name, module = str.__str__(_class_qualname(kind)), _class_module(kind)
    if type(module) is not str:
        return f"?.{name}"
    return name if module == "builtins" else f"{module}.{name}"


def instance_dict(value: object) -> dict[str, object]:
    """The object's own attributes; empty when it has no dictionary of its own."""
    for each in ancestry(type(value)):
        getter = _class_dict(each).get("__dict__")
        if type(getter) is GetSetDescriptorType:
            found = getter.__get__(value)
            return found if type(found) is dict else {}
    return {}


def stored_field(value: object, own: Mapping[str, object], name: str) -> object:
    """A field's value from the object's dictionary or its slot; `NO_FIELD` when it has none."""
    if name in own:
        return own[name]
    slot = class_attribute(type(value), name)
    if type(slot) is MemberDescriptorType:
        try:
            return slot.__get__(value)
        except AttributeError:
            return NO_FIELD
    return NO_FIELD


def loaded(module: str, name: str) -> object:
    """A name of a module that somebody has imported already; None otherwise. Imports nothing."""
    found = sys.modules.get(module)
    return None if found is None else vars(found).get(name)


NO_FIELD = _MISSING
