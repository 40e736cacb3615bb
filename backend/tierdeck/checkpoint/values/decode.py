"""Bytes to values: one unit, with the pool it refers to. Pure; nothing named in the bytes is imported or called.

msgpack makes the lists, innermost first, and hands each to a hook that makes the value of it: no recursion of ours
or of Python's. Before that the bytes are walked over without making anything, since a five-byte header alone can
claim an array of gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

import msgpack

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.records import Placeholder
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, DEQUE_ITEMS, ITEM_BYTES, OBJECT_BYTES
from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.builders import fill_shell, make_shell, make_whole
from tierdeck.checkpoint.values.chains import MAX_CHAIN, has_long_chain, take_apart
from tierdeck.checkpoint.values.encode import POOLED
from tierdeck.checkpoint.version import MINOR
from tierdeck.errors import DamagedCheckpointError

_WALKED_FROM = 4_096  # below, what headers claim stays within tens of megabytes that are never touched
# A SystemError is what numpy raises for text of its own that is no Unicode, when it is hashed or made a str.
_BAD_BYTES = (
    ValueError, TypeError, OverflowError, LookupError, ArithmeticError, RecursionError, MemoryError, SystemError,
)  # fmt: skip
_UNMADE = object()
_T = TypeVar("_T")


def decode_unit(
    raw: bytes | memoryview,
    *,
    form: int,
    pool: Sequence[object] | None = None,
    minor: int = MINOR,
    budget: Budget | None = None,
) -> object:
    """The value of a unit.

    Args:
        raw: its bytes, whole.
        form: 0 for one value, 1 for a pool whose last object is the value.
        pool: the objects of the pool section it refers to, from `decode_pool`.
        minor: the minor version that wrote it; in a newer one unknown tags become placeholders.
        budget: what it may take; the console's limits without one.

    Raises:
        DamagedCheckpointError: no encoder of ours wrote these bytes; nothing of them is kept.
        CheckpointLimitError: its objects would take more memory than the limit.

    Spec: SPEC-09.23
    """
    decoder = _Decoder(pool or (), minor, budget)
    if form == POOLED:
        objects = decoder.objects(raw)
        if not objects:
            raise _damaged("a pool without the value")
        return objects[-1]
    return decoder.value(raw)


def decode_pool(raw: bytes | memoryview, *, minor: int = MINOR, budget: Budget | None = None) -> list[object]:
    """The objects of a pool section, by their numbers. Raises as `decode_unit`."""
    return _Decoder((), minor, budget).objects(raw)


class _Decoder:
    def __init__(self, shared: Sequence[object], minor: int, budget: Budget | None) -> None:
        self._shared = shared
        self._own: list[object] = []
        self._minor = minor
        self._budget = budget or Budget(CONSOLE_LIMITS.memory_bytes)
        self._fragile: list[object] = []

    def value(self, raw: bytes | memoryview) -> object:
        return self._refusing(lambda: self._unpacked(raw), "a value")

    def objects(self, raw: bytes | memoryview) -> list[object]:
        return self._refusing(lambda: self._objects(memoryview(raw)), "a pool of values")

    def _refusing(self, work: Callable[[], _T], what: str) -> _T:
        """Do the work; when it fails, let go of what was made without ending the process by it."""
        try:
            made = work()
            self._check_chains()
        except _BAD_BYTES as e:
            take_apart(self._fragile)
            raise _damaged(f"{what}: {str(e)[:200] or type(e).__name__}") from e
        except BaseException:
            take_apart(self._fragile)
            raise
        return made

    def _check_chains(self) -> None:
        if has_long_chain(self._fragile):
            raise ValueError(f"more than {MAX_CHAIN} deques or defaultdicts inside each other")

    def _objects(self, raw: memoryview) -> list[object]:
        heads, bodies = self._split(raw)
        self._own = [self._shell(head) for head in heads]
        for number, head in enumerate(heads):
            if head is None:
                self._own[number] = self._unpacked(bodies[number])
        for number, head in enumerate(heads):
            if head is not None:
                self._fill(self._own[number], bodies[number])
        return self._own

    def _split(self, raw: memoryview) -> tuple[list[object], list[memoryview]]:
        """Heads and bodies of a pool."""
        start = 4 + int.from_bytes(raw[:4], "little")
        if len(raw) < start:
            raise ValueError("a pool without its index")
        walk_over(raw[4:start])
        index = msgpack.unpackb(
            raw[4:start],
            list_hook=self._counted,
            object_pairs_hook=_refuse_map,
            ext_hook=_refuse_ext,
            max_ext_len=0,
            strict_map_key=False,
            unicode_errors="surrogatepass",
        )
        if type(index) is not list or len(index) % 2:
            raise ValueError("a pool without its index")
        bodies = []
        for length in index[1::2]:
            if type(length) is not int or not 0 < length <= len(raw) - start:
                raise ValueError("an object that lies outside its pool")
            bodies.append(raw[start : start + length])
            start += length
        if start != len(raw):
            raise ValueError("something follows the objects of a pool")
        return index[::2], bodies

    def _counted(self, node: list[object]) -> list[object]:
        self._budget.spend(len(node))
        return node

    def _shell(self, head: object) -> object:
        if head is None:
            return _UNMADE
        tag, *fixed = head if isinstance(head, list) else [head]
        if type(tag) is not int:
            raise ValueError("an object without a tag")
        if tag in tags.SHELLS:
            return self._made_shell(tag, fixed)
        return self._unknown(tag, fixed, len(fixed))

    def _made_shell(self, tag: int, fixed: list[object]) -> object:
        shell = make_shell(tag, fixed)
        if tag == tags.DEQUE or tag == tags.DEFAULTDICT:
            self._fragile.append(shell)
        return shell

    def _fill(self, shell: object, body: memoryview) -> None:
        items = self._unpacked(body)
        if type(items) is not list:
            raise ValueError("a container filled with something else")
        fill_shell(shell, items, len(items), self._budget)

    def _unpacked(self, raw: bytes | memoryview) -> object:
        if len(raw) >= _WALKED_FROM:
            self._budget.check_claim(raw)
            walk_over(raw)
        return msgpack.unpackb(
            raw,
            list_hook=self._made,
            object_pairs_hook=_refuse_map,
            ext_hook=_refuse_ext,
            max_ext_len=0,  # the hook is not asked about timestamps
            strict_map_key=False,
            unicode_errors="surrogatepass",
        )

    def _made(self, node: list[object]) -> object:
        """The value of one list from the bytes; called for the inner ones first."""
        tag, count, budget = node[0], len(node), self._budget
        if type(tag) is not int:
            raise ValueError("a list without a tag")
        # Dicts and lists are most of a session's containers: `spend` and `fill_shell` stand here for them.
        budget.left_bytes -= OBJECT_BYTES + ITEM_BYTES * count
        if budget.left_bytes < 0:
            budget.refuse()
        if tag == tags.LIST:
            del node[0]
            return node
        if tag == tags.DICT:
            for at in range(1, count, 2):
                if type(node[at]) is not str:
                    budget.checked(node[1::2])
                    break
            things = iter(node)
            next(things)
            made = dict(zip(things, things))  # noqa: B905  # no copies of keys and values; counted below
            if len(made) * 2 + 1 != count:
                raise ValueError("the same key twice, or a key without a value")
            return made
        return self._less_plain(tag, node)

    def _less_plain(self, tag: int, node: list[object]) -> object:
        if tag == tags.SET or tag == tags.FROZENSET or tag == tags.ORDERED_DICT:
            self._budget.spend_items(len(node) + 1)
        elif tag == tags.DEQUE:
            self._budget.spend_items(DEQUE_ITEMS)
        if tag in tags.SHELLS:
            first = 1 + tags.SHELLS[tag]
            shell = self._made_shell(tag, node[1:first])
            fill_shell(shell, node[first:], len(node) - first, self._budget)
            return shell
        if tag == tags.OWN or tag == tags.SHARED:
            return self._object(self._own if tag == tags.OWN else self._shared, node)
        if tag not in tags.KNOWN:
            return self._unknown(tag, tuple(node[1:]), None)
        return make_whole(tag, node[1:], self._budget)

    def _object(self, objects: Sequence[object], node: list[object]) -> object:
        [_, number] = node
        if type(number) is not int or not 0 <= number < len(objects):
            raise ValueError("a reference to nothing")
        found = objects[number]
        if found is _UNMADE:
            raise ValueError("a reference to what is made later")
        return found

    def _unknown(self, tag: int, operands: tuple[object, ...] | list[object], fixed: int | None) -> Placeholder:
        if self._minor <= MINOR or tag in tags.KNOWN or tag < 0:
            raise ValueError(f"the tag {tag} stands for nothing here")
        return Placeholder(tag, operands, "a newer version of this program knows what it is", fixed, self._minor)


def walk_over(raw: bytes | memoryview) -> None:
    """Walk over one msgpack value without making it.

    Raises:
        ValueError: it is none, it is cut, nested deeper than 1,024, or something follows it.
    """
    walker = msgpack.Unpacker(max_buffer_size=len(raw) + 1)
    walker.feed(raw)
    try:
        walker.skip()
    except msgpack.OutOfData as e:
        raise ValueError("it is cut, or claims more than there is") from e
    if walker.tell() != len(raw):
        raise ValueError("something follows it")


def _refuse_map(_pairs: object) -> NoReturn:
    raise ValueError("a map, which no value is written as")


def _refuse_ext(_code: int, _data: bytes) -> NoReturn:
    raise ValueError("a type of somebody else's")


def _damaged(why: str) -> DamagedCheckpointError:
    return DamagedCheckpointError(f"read {why}", hint="`checkpoint verify` tells what else is damaged")
