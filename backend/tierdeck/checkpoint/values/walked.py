"""What a walk over values leaves: units with losses, where objects stand and where they are met again. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.class_facts import type_name
from tierdeck.checkpoint.kinds.loss import MAX_LOSSES, MAX_REASON, Loss, LossKind
from tierdeck.checkpoint.kinds.records import Inert, Record
from tierdeck.checkpoint.kinds.scalars import Node
from tierdeck.checkpoint.values.trail import Frame, path_text


class Place(NamedTuple):
    """Where an object was met first. `inside` is the key of the container around it, None for a whole unit.

    It holds the object itself: its address is its key, and must not be given to another meanwhile.
    """

    value: object
    node: Node
    at: int
    inside: int | None
    unit: int


class Ref(NamedTuple):
    """An object met again: the node that stands for it there, its key, and what it stands in."""

    node: Node
    target: int
    inside: int | None
    unit: int


@dataclass(slots=True)
class Walked:
    """One unit after the walk; `holder` is a list of one, the unit's node. `is_lost`: nothing of it is used."""

    name: str
    holder: Node
    is_part: bool
    refs: list[Ref] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    fragile: list[object] = field(default_factory=list)
    objects: int = 0
    memory_bytes: int = 0
    is_lost: bool = False


def note(unit: Walked, around: Frame | None, at: int, value: object, reason: str, kind: LossKind) -> None:
    """Add to the unit's losses, of which so many of each kind are listed."""
    if sum(loss.kind == kind for loss in unit.losses) < MAX_LOSSES:
        path = path_text(unit.name, around, at)
        unit.losses.append(Loss(unit.name, path, type_name(type(value)), reason[:MAX_REASON], kind))


def note_stand_in(unit: Walked, around: Frame | None, at: int, value: object, made: Node) -> None:
    """List what is in the file as text or as a record only; records once for each type."""
    if made[0] == tags.INERT and type(value) is not Inert:
        note(unit, around, at, value, f"a {made[1]} is kept as its name, not as code", "inert")
    elif made[0] == tags.RECORD and type(value) is not Record:
        name = type_name(type(value))
        if all(loss.type_name != name or loss.kind != "record" for loss in unit.losses):
            note(unit, around, at, value, "kept as a record of its fields", "record")


def is_told(unit: Walked) -> bool:
    """Whether the unit is lost and there is no room to list more of why."""
    return unit.is_lost and sum(loss.kind == "lost" for loss in unit.losses) >= MAX_LOSSES
