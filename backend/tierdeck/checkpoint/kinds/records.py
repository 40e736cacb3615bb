"""What comes back for a thing that can't come back as itself: text and values, never code. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

RecordKind = Literal["dataclass", "namedtuple", "enum", "pydantic"]
InertKind = Literal["module", "function", "class"]
RECORD_KINDS = frozenset({"dataclass", "namedtuple", "enum", "pydantic"})
INERT_KINDS = frozenset({"module", "function", "class"})


@dataclass(slots=True, eq=False)
class Record:
    """An instance of somebody's class: the name of the type and its fields, in order.

    Two records are equal only when they are the same object: fields may hold cycles, and a record must be able to
    stand where its instance stood, in a set or as a key.
    """

    kind: RecordKind
    type_name: str
    fields: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Inert:
    """A module, function or class that was among the values: its import name, and its source when it was known.

    Nothing here imports or compiles it.
    """

    kind: InertKind
    name: str
    source: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Unsaved:
    """Stands in messages, events or working memory where a thing stood that could not be saved."""

    type_name: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Placeholder:
    """What this program can't make of a sound file: a tag of a newer version, or a thing this machine lacks.

    It is written back as it was by the next save. `why` is for the operator. `fixed` is None for a thing that is
    made whole; else it is a container, and the first so many of its operands never change. A file with it is of
    the `minor` version it was read from, or newer: an older one has no such tag.
    """

    tag: int
    operands: tuple[object, ...] | list[object]
    why: str
    fixed: int | None = None
    minor: int = 0
