"""From values to nodes: one walk over all units of a checkpoint; no recursion, and no code of theirs. Pure.

Each container becomes a flat list in which its contents are replaced in place. An object met again becomes a
reference; which pool it goes to is decided when all units have been walked over (`pools`). A stack of our own and
no recursion: an agent may save from deep inside its own calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tierdeck.checkpoint import tags
from tierdeck.checkpoint.class_facts import type_name
from tierdeck.checkpoint.limits import ITEM_BYTES, MAX_DEPTH, OBJECT_BYTES, SHARED_FROM
from tierdeck.checkpoint.loss import MAX_LOSSES, Loss, LossKind, UnsaveableError
from tierdeck.checkpoint.openers import Opener, Sources, node_without_identity, opener_of
from tierdeck.checkpoint.records import Inert, Record
from tierdeck.checkpoint.scalars import MAX_INT, MIN_INT, Node
from tierdeck.checkpoint.trail import Step, path_text

_NONE = type(None)
# By their addresses: the hash of a class can be its metaclass's own code.
_AS_THEY_ARE = frozenset(map(id, (_NONE, bool, float)))
_MAX_REASON = 200
# What the interpreter and numpy raise when a value is not what it should be, or another thread changed it
# meanwhile: one variable's trouble, said in its loss, and never the checkpoint's.
_READ_ERRORS = (ValueError, TypeError, RuntimeError, LookupError, AttributeError, OverflowError, MemoryError)


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


class _Task(NamedTuple):
    value: object
    node: Node
    at: int
    step: Step | None
    depth: int
    inside: int | None


@dataclass(slots=True)
class Walked:
    """One unit after the walk; `holder` is a list of one, the unit's node. `is_lost`: nothing of it is used."""

    name: str
    holder: Node
    refs: list[Ref] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    objects: int = 0
    memory_bytes: int = 0
    is_lost: bool = False


class Walk:
    """The walk over the units of one checkpoint; `places` knows every object that has an identity."""

    def __init__(self, sources: Sources, memory_bytes: int) -> None:
        self.places: dict[int, Place] = {}
        self.units: list[Walked] = []
        self._sources = sources
        self._memory_bytes = memory_bytes
        # With the classes themselves, whose addresses are the keys.
        self._openers: dict[int, tuple[type, Opener]] = {}
        self._makers: dict[int, tuple[type, Callable[..., Node] | None]] = {}

    def add(self, name: str, value: object, *, is_part: bool) -> Walked:
        """Walk over one unit. It never raises: what can't be saved is among the unit's losses.

        Args:
            is_part: replace what can't be saved by a note; else the whole unit is lost with it.
        """
        unit = Walked(name, [value])
        self.units.append(unit)
        known = len(self.places)
        tasks = self._scan(unit, unit.holder, 0, None, 0, None, is_part)
        while tasks and not _is_told(unit):
            tasks.extend(reversed(self._one(unit, tasks.pop(), is_part)))
            if unit.memory_bytes > self._memory_bytes:
                note(
                    unit, None, value, f"it would take more than {self._memory_bytes:,} bytes to make again", "lost"
                )
                unit.is_lost = True
                break
        if unit.is_lost:
            # What was met first inside it has to be met anew elsewhere.
            while len(self.places) > known:
                self.places.popitem()
            unit.refs.clear()
            unit.holder[0] = None
        return unit

    def _one(self, unit: Walked, task: _Task, is_part: bool) -> Sequence[_Task]:
        """Encode one value that has an identity in its place; returns what is inside it and still to do."""
        value, node, index, step, depth, inside = task
        key = id(value)
        if key in self.places:
            ref = Ref([tags.OWN, 0], key, inside, len(self.units) - 1)
            unit.refs.append(ref)
            node[index] = ref.node
            return ()
        self.places[key] = Place(value, node, index, inside, len(self.units) - 1)
        if type(value) is str or type(value) is bytes:
            return ()
        try:
            if depth > MAX_DEPTH:
                raise UnsaveableError(f"nested deeper than {MAX_DEPTH}")
            made, first = self._open(value)
        except _READ_ERRORS as e:
            self._lose_one(unit, task, str(e), is_part)
            return ()
        node[index] = made
        _note_stand_in(unit, step, value, made)
        unit.objects += 1
        unit.memory_bytes += OBJECT_BYTES + ITEM_BYTES * len(made)
        if not first:
            return ()
        return self._scan(unit, made, first, step, depth, value, is_part)

    def _scan(
        self, unit: Walked, node: Node, first: int, step: Step | None, depth: int, container: object, is_part: bool
    ) -> list[_Task]:
        """Encode the plain values of a node in place; returns a task for each that has an identity."""
        tasks: list[_Task] = []
        if _is_plain(node, first):
            return tasks
        inside = None if node is unit.holder else id(container)
        for index in range(first, len(node)):
            item = node[index]
            kind = type(item)
            if kind is bool or kind is float or kind is _NONE:
                continue
            if kind is int and MIN_INT <= item <= MAX_INT:  # type: ignore[operator]
                continue
            if (kind is str or kind is bytes) and len(item) < SHARED_FROM:  # type: ignore[arg-type]
                continue
            here = None if node is unit.holder else Step(step, container, node, index)
            task = _Task(item, node, index, here, depth + 1, inside)
            if kind is tuple and not item:  # there is only one such object
                node[index] = [tags.TUPLE]
            elif not self._is_made(unit, task, is_part):
                tasks.append(task)
        return tasks

    def _is_made(self, unit: Walked, task: _Task, is_part: bool) -> bool:
        """Encode a value without identity in its place; False when it has one."""
        kind = type(task.value)
        if id(kind) not in self._makers:
            self._makers[id(kind)] = (kind, node_without_identity(kind))
        make = self._makers[id(kind)][1]
        if make is None:
            return False
        try:
            task.node[task.at] = make(task.value)
        except _READ_ERRORS as e:
            self._lose_one(unit, task, str(e), is_part)
        return True

    def _open(self, value: object) -> tuple[Node, int]:
        kind = type(value)
        if id(kind) not in self._openers:
            self._openers[id(kind)] = (kind, opener_of(kind, self._sources))
        return self._openers[id(kind)][1](value)

    def _lose_one(self, unit: Walked, task: _Task, reason: str, is_part: bool) -> None:
        note(unit, task.step, task.value, reason, "lost")
        self.places.pop(id(task.value), None)
        task.node[task.at] = [tags.UNSAVED, type_name(type(task.value)), reason[:_MAX_REASON]] if is_part else None
        unit.is_lost = unit.is_lost or not is_part


def note(unit: Walked, step: Step | None, value: object, reason: str, kind: LossKind) -> None:
    """Add to the unit's losses, of which so many of each kind are listed."""
    if sum(loss.kind == kind for loss in unit.losses) < MAX_LOSSES:
        path = path_text(unit.name, step)
        unit.losses.append(Loss(unit.name, path, type_name(type(value)), reason[:_MAX_REASON], kind))


def _note_stand_in(unit: Walked, step: Step | None, value: object, made: Node) -> None:
    """List what is in the file as text or as a record only; records once for each type."""
    if made[0] == tags.INERT and type(value) is not Inert:
        note(unit, step, value, f"a {made[1]} is kept as its name, not as code", "inert")
    elif made[0] == tags.RECORD and type(value) is not Record:
        name = type_name(type(value))
        if all(loss.type_name != name or loss.kind != "record" for loss in unit.losses):
            note(unit, step, value, "kept as a record of its fields", "record")


def _is_told(unit: Walked) -> bool:
    """Whether the unit is lost and there is no room to list more of why."""
    return unit.is_lost and sum(loss.kind == "lost" for loss in unit.losses) >= MAX_LOSSES


def _is_plain(node: Node, first: int) -> bool:
    """Whether everything in a long node is packed as it is; looked at by the interpreter's own loops."""
    if len(node) < 32:
        return False
    items = node[first:] if first else node
    kinds = set(map(id, map(type, items)))
    if kinds <= _AS_THEY_ARE:
        return True
    if kinds == {id(int)}:
        whole: list[int] = items  # type: ignore[assignment]  # all of them ints
        return min(whole) >= MIN_INT and max(whole) <= MAX_INT
    return kinds == {id(str)} and max(map(len, items)) < SHARED_FROM  # type: ignore[arg-type]  # all of them text
