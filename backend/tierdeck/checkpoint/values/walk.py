"""From values to nodes: one walk over all units of a checkpoint; no recursion, and no code of theirs. Pure.

Each container becomes a flat list in which its contents are replaced in place. An object met again becomes a
reference; which pool it goes to is decided when all units have been walked over (`pools`). A stack of our own and
no recursion: an agent may save from deep inside its own calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.class_facts import type_name
from tierdeck.checkpoint.kinds.loss import MAX_REASON, UnsaveableError
from tierdeck.checkpoint.kinds.pieces import LONG_FROM, Long
from tierdeck.checkpoint.kinds.records import Placeholder
from tierdeck.checkpoint.kinds.scalars import MAX_INT, MIN_INT, Node
from tierdeck.checkpoint.limits import DEQUE_ITEMS, ITEM_BYTES, MAX_DEPTH, OBJECT_BYTES, SHARED_FROM
from tierdeck.checkpoint.values.chains import MAX_CHAIN, has_long_chain, is_fragile
from tierdeck.checkpoint.values.openers import Opener, Sources, node_without_identity, opener_of
from tierdeck.checkpoint.values.plain import LONG, NONE, is_plain, row_node, table_nodes
from tierdeck.checkpoint.values.trail import Frame
from tierdeck.checkpoint.values.walked import Place, Ref, Walked, is_told, note, note_stand_in
from tierdeck.checkpoint.version import MINOR

# What the interpreter and numpy raise when a value is not what it should be, or another thread changed it
# meanwhile: one variable's trouble, said in its loss, and never the checkpoint's.
_READ_ERRORS = (ValueError, TypeError, RuntimeError, LookupError, AttributeError, OverflowError, MemoryError)


# A value still to be encoded, the node and the place in it where it stands, and what is around it. Plain tuples, as
# `_Known` below: a named one takes ten times as long to make, and there is one for each container of a session.
_Task = tuple[object, Node, int, Frame | None]
_Known = tuple[object, Node, int, int | None, int]


class Walk:
    """The walk over the units of one checkpoint; `minor` is the version it takes to read what was met."""

    def __init__(self, sources: Sources, memory_bytes: int) -> None:
        self.units: list[Walked] = []
        self.minor = MINOR
        self.gaps: list[Node] = []  # what stands in parts where a thing could not be saved
        self._known: dict[int, _Known] = {}
        self._sources = sources
        # Whoever reads counts a little more than is counted here: indexes, references, what stands in a scalar.
        self._left_bytes = memory_bytes * 3 // 4
        # With the classes themselves, whose addresses are the keys.
        self._openers: dict[int, tuple[type, Opener]] = {}
        self._makers: dict[int, tuple[type, Callable[..., Node] | None]] = {}

    def places(self) -> dict[int, Place]:
        """Every object that has an identity, in the order they were met, by its key."""
        return {key: Place(*known) for key, known in self._known.items()}

    def add(self, name: str, value: object, *, is_part: bool) -> Walked:
        """Walk over one unit. It never raises: what can't be saved is among the unit's losses.

        Args:
            is_part: replace what can't be saved by a note; else the whole unit is lost with it.
        """
        unit = Walked(name, [value], is_part)
        self.units.append(unit)
        known = len(self._known)
        tasks = self._scan(unit, unit.holder, 0, None, 0)
        while tasks and not (unit.is_lost and is_told(unit)):
            inner = self._one(unit, tasks.pop())
            if inner:
                tasks.extend(reversed(inner))
            if unit.memory_bytes > self._left_bytes:
                why = f"{unit.memory_bytes:,} bytes to make it again are more than the {self._left_bytes:,} left"
                note(unit, None, 0, value, why, "lost")
                unit.is_lost = True
                break
        if has_long_chain(unit.fragile):
            note(unit, None, 0, value, f"more than {MAX_CHAIN} deques or defaultdicts inside each other", "lost")
            unit.is_lost = True
        unit.fragile.clear()
        if unit.is_lost:
            # What was met first inside it has to be met anew elsewhere.
            while len(self._known) > known:
                self._known.popitem()
            unit.refs.clear()
            unit.holder[0] = None
        else:
            self._left_bytes -= unit.memory_bytes
        return unit

    def _one(self, unit: Walked, task: _Task) -> Sequence[_Task]:
        """Encode one value that has an identity in its place; returns what is inside it and still to do."""
        value, node, at, around = task
        key, kind = id(value), type(value)
        inside = None if around is None else id(around.container)
        if key in self._known:
            ref = Ref([tags.OWN, 0], key, inside, len(self.units) - 1)
            unit.refs.append(ref)
            node[at] = ref.node
            unit.memory_bytes += OBJECT_BYTES + 2 * ITEM_BYTES
            return ()
        self._known[key] = (value, node, at, inside, len(self.units) - 1)
        if kind is str or kind is bytes:
            if len(value) >= LONG_FROM:  # type: ignore[arg-type]  # it is text or bytes
                node[at] = Long(value)  # type: ignore[arg-type]
            return ()
        depth = 1 if around is None else around.depth + 1
        try:
            if depth > MAX_DEPTH:
                raise UnsaveableError(f"nested deeper than {MAX_DEPTH}")
            made, first = self._open(value)
        except _READ_ERRORS as e:
            self._lose_one(unit, task, str(e))
            return ()
        node[at] = made
        unit.objects += 1
        unit.memory_bytes += OBJECT_BYTES + ITEM_BYTES * len(made)
        if kind is not dict and kind is not list:  # most of a session's containers are these
            self._take_note(unit, task, made)
        return self._scan(unit, made, first, task, depth) if first else ()

    def _take_note(self, unit: Walked, task: _Task, made: Node) -> None:
        """What is to be known of the less plain kinds."""
        value, _, at, around = task
        if made[0] == tags.INERT or made[0] == tags.RECORD:
            note_stand_in(unit, around, at, value, made)
        if type(value) is Placeholder:
            self.minor = max(self.minor, value.minor)
        if is_fragile(value):
            unit.fragile.append(value)
        if made[0] == tags.SET or made[0] == tags.FROZENSET or made[0] == tags.ORDERED_DICT:
            unit.memory_bytes += ITEM_BYTES * (len(made) + 1)
        elif made[0] == tags.DEQUE:
            unit.memory_bytes += ITEM_BYTES * DEQUE_ITEMS

    def _scan(self, unit: Walked, node: Node, first: int, task: _Task | None, depth: int) -> list[_Task]:
        """Encode the plain values of a node in place; returns a task for each that has an identity.

        Args:
            task: what the node was made for; None for a unit's holder, which is around its value and no part of it.
        """
        tasks: list[_Task] = []
        around = None
        if len(node) >= LONG:
            if is_plain(node[first:]):
                return tasks
            if depth < MAX_DEPTH:
                first = self._rows(unit, node, first, None if task is None else id(task[0]))
        for at in range(first, len(node)):
            item = node[at]
            kind = type(item)
            if kind is str or kind is bytes:
                if len(item) < SHARED_FROM:  # type: ignore[arg-type]
                    continue
            elif kind is float or kind is bool or kind is NONE:
                continue
            elif kind is int:
                if MIN_INT <= item <= MAX_INT:  # type: ignore[operator]
                    continue
            elif kind is tuple and not item:  # there is only one such object
                node[at] = [tags.TUPLE]
                continue
            if around is None and task is not None:  # most containers hold only plain values and need none
                around = Frame(task[3], task[2], task[0], node, depth)
            inner = (item, node, at, around)
            if kind is dict or kind is list or not self._is_made(unit, inner):
                tasks.append(inner)
        return tasks

    def _rows(self, unit: Walked, node: Node, first: int, inside: int | None) -> int:
        """Encode the dicts and lists of plain values that a long node begins with; returns where they end.

        A table takes less than half the time of a task for each row, and its rows are met in the same order.
        """
        if self._is_table(unit, node, first, inside):
            return len(node)
        known, number, memory_bytes = self._known, len(self.units) - 1, unit.memory_bytes
        at = first
        for at in range(first, len(node)):  # where it stands is what is returned
            row = node[at]
            made = None
            if type(row) is dict or type(row) is list:
                made = row_node(row) if id(row) not in known else None
            elif type(row) is str and len(row) < SHARED_FROM:
                continue
            if made is None or memory_bytes > self._left_bytes:
                break
            known[id(row)] = (row, node, at, inside, number)
            node[at] = made
            memory_bytes += OBJECT_BYTES + ITEM_BYTES * len(made)
            unit.objects += 1
        else:
            at = len(node)
        unit.memory_bytes = memory_bytes
        return at

    def _is_table(self, unit: Walked, node: Node, first: int, inside: int | None) -> bool:
        """Encode all that is in a node, where it is dicts of the same keys that are met for the first time."""
        rows = node[first:]
        keys = list(map(id, rows))
        if len(set(keys)) < len(keys) or not self._known.keys().isdisjoint(keys):
            return False
        nodes = table_nodes(rows)
        if nodes is None:
            return False
        memory_bytes = len(nodes) * (OBJECT_BYTES + ITEM_BYTES * len(nodes[0]))
        if unit.memory_bytes + memory_bytes > self._left_bytes:
            return False
        places = zip(rows, repeat(node), range(first, len(node)), repeat(inside), repeat(len(self.units) - 1))
        self._known.update(zip(keys, places, strict=False))
        node[first:] = nodes
        unit.memory_bytes += memory_bytes
        unit.objects += len(nodes)
        return True

    def _is_made(self, unit: Walked, task: _Task) -> bool:
        """Encode a value without identity in its place; False when it has one."""
        kind = type(task[0])
        found = self._makers.get(id(kind))
        if found is None:
            found = self._makers[id(kind)] = (kind, node_without_identity(kind))
        make = found[1]
        if make is None:
            return False
        try:
            task[1][task[2]] = made = make(task[0])
            unit.memory_bytes += OBJECT_BYTES + ITEM_BYTES * len(made)
        except _READ_ERRORS as e:
            self._lose_one(unit, task, str(e))
        return True

    def _open(self, value: object) -> tuple[Node, int]:
        kind = type(value)
        if kind is dict:  # as its opener would, without the way there
            # In one step of the interpreter's: between two, another thread could move a key to the end.
            return [tags.DICT, *chain.from_iterable(value.items())], 1  # type: ignore[attr-defined]  # a dict
        if kind is list:
            return [tags.LIST, *value], 1  # type: ignore[misc]  # a list
        found = self._openers.get(id(kind))
        if found is None:
            found = self._openers[id(kind)] = (kind, opener_of(kind, self._sources))
        return found[1](value)

    def _lose_one(self, unit: Walked, task: _Task, reason: str) -> None:
        value, node, at, around = task
        note(unit, around, at, value, reason, "lost")
        self._known.pop(id(value), None)
        if unit.is_part:
            node[at] = gap = [tags.UNSAVED, type_name(type(value)), reason[:MAX_REASON]]
            self.gaps.append(gap)
        else:
            node[at], unit.is_lost = None, True
