"""What it takes to use values from a file as keys, looked at before the interpreter does it. Pure.

A tuple's hash is worked out anew each time, through every path in it: forty tuples that each hold the one before
twice take a day. Numbers can be chosen so that all fall into one place of a dict, which makes filling it take the
square of their count.
"""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.checkpoint.limits import MAX_DEPTH, MAX_HASH_STEPS

_FEW_KEYS = 1_024
_MAX_ALIKE = 64


class HashBudget:
    """How many steps the hashes of one unit's keys may still take."""

    def __init__(self, steps: int = MAX_HASH_STEPS) -> None:
        self._steps = steps

    def checked(self, keys: Sequence[object]) -> Sequence[object]:
        """The keys, when they can be hashed within the budget and spread as keys do.

        Raises:
            ValueError: they can't.
            TypeError: one of them has no hash.
        """
        kinds = set(map(type, keys))
        if kinds <= {str} or kinds <= {bytes}:
            return keys  # their hashes hold a secret of this process
        if tuple in kinds:
            for key in keys:
                if type(key) is tuple:
                    self._walk(key)
        if len(keys) > _FEW_KEYS and len(set(map(hash, keys))) * _MAX_ALIKE < len(keys):
            raise ValueError(f"{len(keys):,} keys that all look alike to a dict")
        return keys

    def _walk(self, key: tuple[object, ...]) -> None:
        todo = [(key, 1)]
        while todo:
            inner, depth = todo.pop()
            self._steps -= len(inner) + 1
            if self._steps < 0 or depth > MAX_DEPTH + 1:
                raise ValueError("a key whose hash takes too many steps")
            todo += [(each, depth + 1) for each in inner if type(each) is tuple]
