"""Records back into instances, of the classes that the host hands over and no others; for the agent's own process.

A second step after reading, so that the reader itself never meets a class. No constructor, validator or setter is
called: fields are put where they were. Only the hash and equality of a class run, when its instance is a key.
"""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from tierdeck.checkpoint.kinds.class_facts import class_attribute
from tierdeck.checkpoint.kinds.instances import record_kind
from tierdeck.checkpoint.kinds.records import Record

_DICTS = (dict, defaultdict, Counter, OrderedDict)
_FILLED = (list, deque, set, Record, *_DICTS)  # all that can be changed in place
_REMADE = (tuple, frozenset)


def with_classes(values: Mapping[str, object], classes: Mapping[str, type]) -> dict[str, object]:
    """The values with instances in place of the records of these classes; identity and cycles are kept.

    A record whose class is not given, is of another kind or has other fields stays a record. What may be changed is
    changed in place: the values given are not to be used any more.

    Args:
        values: as `load_checkpoint` gives them.
        classes: by the name in the record, `module.Class`.

    Raises:
        Exception: what the hash or equality of a class raises; the values are to be loaded anew then.
    """
    work = _Revival(classes)
    for value in values.values():
        work.visit(value)
    work.fill()
    return {name: work.new(value) for name, value in values.items()}


class _Revival:
    def __init__(self, classes: Mapping[str, type]) -> None:
        self._classes = classes
        self._new: dict[int, object] = {}
        self._seen: list[object] = []  # keeps them alive: their addresses are the keys

    def new(self, value: object) -> object:
        """What stands for the value now."""
        return self._new.get(id(value), value)

    def visit(self, root: object) -> None:
        """Make the instances, and anew what can't be changed in place, its contents first."""
        todo = [(root, False)]
        while todo:
            value, is_ready = todo.pop()
            if is_ready:
                self._remake(value)
            elif id(value) not in self._new and type(value) in (*_FILLED, *_REMADE):
                self._seen.append(value)
                self._new[id(value)] = self._shell(value) if type(value) is Record else value
                todo.append((value, True))
                todo += [(child, False) for child in _children(value)]

    def fill(self) -> None:
        """Put the new contents into what is changed in place: instances first, since keys may be among them."""
        for value in self._seen:
            if type(value) is Record:
                self._fill_record(value)
        for value in self._seen:
            if type(value) in _FILLED and type(value) is not Record:
                self._fill(value)

    def _remake(self, value: object) -> None:
        if type(value) is Record:
            self._remake_record(value)
        elif isinstance(value, tuple | frozenset) and any(self.new(child) is not child for child in value):
            self._new[id(value)] = type(value)(map(self.new, value))

    def _remake_record(self, record: Record) -> None:
        kind = self._class_of(record)
        if kind is not None and record.kind == "namedtuple":
            self._new[id(record)] = tuple.__new__(kind, map(self.new, record.fields.values()))
        else:
            self._fill_record(record)

    def _shell(self, record: Record) -> object:
        kind = self._class_of(record)
        if kind is None or record.kind == "namedtuple":
            return record
        if issubclass(kind, enum.Enum):
            return kind.__members__[str(record.fields["name"])]
        return object.__new__(kind)

    def _class_of(self, record: Record) -> type | None:
        """The class to use, when it still has just these fields."""
        kind = self._classes.get(record.type_name)
        if kind is None or record_kind(kind) != record.kind:
            return None
        if issubclass(kind, enum.Enum):
            return kind if record.fields.get("name") in kind.__members__ else None
        if record.kind == "pydantic" and class_attribute(kind, "__private_attributes__"):
            return None  # what these held is not in the record
        return kind if list(record.fields) == list(_field_names(kind, record)) else None

    def _fill_record(self, record: Record) -> None:
        made = self.new(record)
        fields = {name: self.new(value) for name, value in record.fields.items()}
        if made is record:
            record.fields.update(fields)
        elif record.kind == "dataclass":
            for name, value in fields.items():
                object.__setattr__(made, name, value)
        elif record.kind == "pydantic":
            _fill_model(made, fields)

    def _fill(self, container: Any) -> None:
        if all(self.new(child) is child for child in _children(container)):
            return
        if isinstance(container, dict):
            pairs = [(self.new(key), self.new(value)) for key, value in container.items()]
            container.clear()
            for key, value in pairs:
                container[key] = value
        else:
            items = [self.new(item) for item in container]
            container.clear()
            (container.update if isinstance(container, set) else container.extend)(items)


def _children(value: Any) -> Sequence[object]:
    if type(value) is Record:
        return list(value.fields.values())
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    return list(value)


def _field_names(kind: Any, record: Record) -> Sequence[str]:
    if record.kind == "namedtuple":
        return tuple(kind._fields)
    if record.kind == "dataclass":
        return tuple(kind.__dataclass_fields__)
    declared = tuple(kind.model_fields)
    allows_more = kind.model_config.get("extra") == "allow"
    return [*declared, *(name for name in record.fields if allows_more and name not in declared)]


def _fill_model(model: Any, fields: Mapping[str, object]) -> None:
    declared = type(model).model_fields
    own = {name: value for name, value in fields.items() if name in declared}
    extra = {name: value for name, value in fields.items() if name not in declared}
    allows_more = type(model).model_config.get("extra") == "allow"
    for name, value in (
        ("__dict__", own),
        ("__pydantic_fields_set__", set(fields)),
        ("__pydantic_extra__", extra if allows_more else None),
        ("__pydantic_private__", None),
    ):
        object.__setattr__(model, name, value)
