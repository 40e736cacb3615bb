"""Chains of containers that CPython frees by recursion in C: a long one ends the process when it is let go. Pure.

Lists, tuples, dicts and sets are freed without; a deque inside a deque inside a deque is not, nor is a defaultdict.
200,000 of them end a process, 400 fit into a stack of 256 KB.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

MAX_CHAIN = 400


def is_fragile(value: object) -> bool:
    """Whether it is one of these containers."""
    return type(value) is deque or type(value) is defaultdict


def has_long_chain(containers: Sequence[object]) -> bool:
    """Whether more than `MAX_CHAIN` of these may stand one directly inside the other, in a row or in circles."""
    if len(containers) <= MAX_CHAIN:
        return False
    held_by: dict[int, list[int]] = {id(each): [] for each in containers}
    holds = dict.fromkeys(held_by, 0)
    for each in containers:
        for inner in {id(item) for item in _items(each) if id(item) in holds}:
            held_by[inner].append(id(each))
            holds[id(each)] += 1
    level, free = 0, [key for key, count in holds.items() if count == 0]
    left = len(holds) - len(free)
    while free and level <= MAX_CHAIN:
        level, above = level + 1, []
        for key in free:
            for outer in held_by[key]:
                holds[outer] -= 1
                if holds[outer] == 0:
                    above.append(outer)
        free, left = above, left - len(above)
    return level > MAX_CHAIN or left > MAX_CHAIN  # what is left stands in circles, or holds one


def take_apart(containers: Iterable[object]) -> None:
    """Empty these containers one by one, so that none is freed inside another."""
    for each in containers:
        if isinstance(each, deque | defaultdict):
            each.clear()


def _items(container: object) -> Iterable[object]:
    if type(container) is defaultdict:
        return list(container.values())
    return list(container) if type(container) is deque else ()
