"""Things that msgpack packs as they are, told from others quickly: most of what a session holds. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, cycle, repeat
from operator import eq, is_

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.scalars import MAX_INT, MIN_INT, Node
from tierdeck.checkpoint.limits import SHARED_FROM

NONE = type(None)
LONG = 32  # things in a node, from which looking at all of them at once pays


def table_nodes(rows: Node) -> list[Node] | None:
    """The nodes of dicts that have the same short text keys in the same order; None where they are no such table.

    Every column holds values of one type that are packed as they are. All of it is done by the interpreter's own
    loops: a third of the time of `row_node` for each, whose nodes these are. The keys are the same objects, as
    those of rows made in one place are: to compare them could be their own code.
    """
    if not all(map(is_, map(type, rows), repeat(dict))):
        return None
    dicts: list[dict[object, object]] = rows  # type: ignore[assignment]  # all of them are
    try:
        keys = list(dicts[0])
        values = list(chain.from_iterable(map(dict.values, dicts)))
        has_same_keys = all(map(eq, map(len, dicts), repeat(len(keys)))) and all(
            map(is_, chain.from_iterable(dicts), cycle(keys))
        )
    except RuntimeError:  # another thread changed one
        return None
    width = len(keys)
    if not width or not has_same_keys or len(values) != width * len(dicts) or not all(map(_is_short_text, keys)):
        return None
    columns = [values[at::width] for at in range(width)]
    if not all(map(is_plain, columns)):
        return None
    parts: list[Iterable[object]] = [repeat(tags.DICT)]
    for key, column in zip(keys, columns, strict=True):
        parts += (repeat(key), column)
    return list(map(list, zip(*parts, strict=False)))  # as long as the columns


def row_node(row: dict[object, object] | list[object]) -> Node | None:
    """The node of a dict with short text keys, or of a list, when all in it is packed as it is; else None."""
    if type(row) is list:
        items: Node = [tags.LIST, *row]
        return items if (is_plain(row) if len(row) >= LONG else _is_short_and_plain(items)) else None
    try:
        made: Node = [tags.DICT, *chain.from_iterable(row.items())]  # type: ignore[union-attr]  # a dict
    except RuntimeError:  # another thread changed it; said where it is looked at again
        return None
    has_text_keys = all(map(is_, map(type, made[1::2]), repeat(str)))
    return made if has_text_keys and _is_short_and_plain(made) else None


def _is_short_text(item: object) -> bool:
    return type(item) is str and len(item) < SHARED_FROM


def _is_short_and_plain(node: Node) -> bool:
    """Whether a short node holds only what is packed as it is."""
    for item in node:
        kind = type(item)
        if kind is int:
            if not MIN_INT <= item <= MAX_INT:  # type: ignore[operator]  # it is an int
                return False
        elif kind is str:
            if len(item) >= SHARED_FROM:  # type: ignore[arg-type]  # it is text
                return False
        elif kind is not float and kind is not NONE and kind is not bool:
            return False
    return True


def is_plain(items: Node) -> bool:
    """Whether all of these are of one type, and packed as they are; looked at by the interpreter's own loops."""
    # Not a set of their types: the hash of a class can be its metaclass's own code.
    kind = type(items[0])
    if not all(map(is_, map(type, items), repeat(kind))):
        return False
    if kind is int:
        whole: list[int] = items  # type: ignore[assignment]  # all of them ints
        return min(whole) >= MIN_INT and max(whole) <= MAX_INT
    if kind is str:
        return max(map(len, items)) < SHARED_FROM  # type: ignore[arg-type]  # all of them text
    return kind is float or kind is bool or kind is NONE
