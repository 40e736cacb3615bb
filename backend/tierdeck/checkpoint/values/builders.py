"""From operands back to values: shells, what fills them, and what is made whole. Pure.

Everything here is given what a file says. It raises ValueError, TypeError or OverflowError for what no encoder of
ours writes, and makes nothing but the types of the closed list.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.arrays import make_array, make_scalar
from tierdeck.checkpoint.kinds.frames import known_frame, make_frame
from tierdeck.checkpoint.kinds.moments import MAKE_MOMENT
from tierdeck.checkpoint.kinds.records import INERT_KINDS, RECORD_KINDS, Inert, Placeholder, Record, Unsaved
from tierdeck.checkpoint.kinds.scalars import MAKE_SCALAR, checked_bytes, checked_int, checked_text
from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.openers import FACTORIES

Operands = list[object]


def make_shell(tag: int, fixed: Operands) -> object:
    """An empty container that can begin as a shell, from the operands that never change."""
    if tag == tags.DEQUE:
        [maxlen] = fixed
        return deque(maxlen=None if maxlen is None else checked_int(maxlen, 0))
    if tag == tags.DEFAULTDICT:
        [name] = fixed
        return defaultdict(None if name is None else FACTORIES[checked_text(name)])
    if tag == tags.RECORD:
        kind, type_name = fixed
        if kind not in RECORD_KINDS:
            raise ValueError(f"{str(kind)[:40]!r} is no kind of record")
        return Record(kind, checked_text(type_name))  # type: ignore[arg-type]  # it is one of them
    if fixed:
        raise ValueError("a container with operands it does not have")
    return _EMPTY[tag]()


def fill_shell(shell: Any, items: Iterable[object], count: int, budget: Budget) -> None:
    """Put the contents into an empty container.

    Args:
        count: how many operands there are; a container that ends up with fewer had the same key twice.
    """
    kind = type(shell)
    if kind is list:
        shell.extend(items)
    elif kind is set:
        shell.update(budget.checked(list(items)))
        _must(len(shell) == count, "a set with the same item twice")
    elif kind is deque:
        _must(shell.maxlen is None or count <= shell.maxlen, "a deque longer than it may be")
        shell.extend(items)
    elif kind is Placeholder:
        shell.operands.extend(items)  # a list: it was made as a shell
    else:
        _fill_pairs(shell.fields if kind is Record else shell, list(items), budget, named=kind is Record)


def _fill_pairs(target: dict[object, object], flat: Operands, budget: Budget, *, named: bool) -> None:
    keys = budget.checked(flat[::2])
    _must(len(flat) % 2 == 0, "a key without a value")
    _must(not named or all(type(key) is str for key in keys), "a field without a name")
    pairs = zip(keys, flat[1::2], strict=True)
    if type(target) is OrderedDict:
        target.update(pairs)  # it keeps a list of its own beside the dict
    else:
        dict.update(target, pairs)  # a Counter's own would add, and first count the pairs
    _must(len(target) * 2 == len(flat), "the same key twice")


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def make_whole(tag: int, operands: Operands, budget: Budget) -> object:
    """A value of a tag that takes no shell, from all its operands.

    Raises:
        KeyError: there is no such tag in this version.
    """
    if tag == tags.TUPLE:
        return tuple(operands)
    if tag == tags.FROZENSET:
        made = frozenset(budget.checked(operands))
        _must(len(made) == len(operands), "a set with the same item twice")
        return made
    if tag == tags.PATTERN and not budget.compiles(operands[0]):
        return Placeholder(tag, tuple(operands), "it would take too long to compile")
    if tag == tags.FRAME and not budget.reads_frames and known_frame(*operands[:2]):
        return Placeholder(tag, tuple(operands), "frames are read in the agent's own process only")
    return _MAKERS[tag](*operands)


def _make_slice(start: object, stop: object, step: object) -> slice:
    # Slices inside slices are freed by recursion in C: a long enough chain ends the process.
    _must(slice not in (type(start), type(stop), type(step)), "a slice of slices")
    return slice(start, stop, step)


def _make_inert(kind: object, name: object, source: object) -> Inert:
    _must(kind in INERT_KINDS, "no kind of thing that is kept as text")
    return Inert(kind, checked_text(name), None if source is None else checked_text(source))  # type: ignore[arg-type]


_EMPTY: dict[int, Callable[[], object]] = {
    tags.LIST: list,
    tags.DICT: dict,
    tags.SET: set,
    tags.COUNTER: Counter,
    tags.ORDERED_DICT: OrderedDict,
}
_MAKERS: dict[int, Callable[..., object]] = {
    **MAKE_SCALAR,
    **MAKE_MOMENT,
    tags.SLICE: _make_slice,
    tags.BYTEARRAY: lambda data: bytearray(checked_bytes(data)),
    tags.ARRAY: make_array,
    tags.ARRAY_SCALAR: make_scalar,
    tags.FRAME: make_frame,
    tags.INERT: _make_inert,
    tags.UNSAVED: lambda name, reason: Unsaved(checked_text(name), checked_text(reason)),
}
