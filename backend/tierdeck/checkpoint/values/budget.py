"""What reading may still take: memory for objects, and steps to hash keys; counted before it is spent. Pure.

A tuple's hash is worked out anew each time, through every path in it: forty tuples that each hold the one before
twice take a day. Numbers can be chosen so that all fall into one place of a dict, which makes filling it take the
square of their count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tierdeck.checkpoint.kinds.scalars import MAX_COMPILE_MS, compile_ms
from tierdeck.checkpoint.limits import ITEM_BYTES, MAX_COMPILE_MS_ALL, MAX_DEPTH, MAX_HASH_STEPS, OBJECT_BYTES
from tierdeck.errors import CheckpointLimitError

_FEW_KEYS = 1_024
_MAX_ALIKE = 64
_LONG_ARRAY = 0xDD  # msgpack's, followed by its length in four bytes


class Budget:
    """For one unit, or for all units of a file that is loaded whole.

    Args:
        memory_bytes: what all objects together may take, by an estimate from above.
        reads_frames: whether Arrow may read frames: it allocates what a stream claims, and no limit here holds it.
        hash_steps: how many things in nested tuples may be looked at to hash keys.
    """

    def __init__(self, memory_bytes: int, *, reads_frames: bool = False, hash_steps: int = MAX_HASH_STEPS) -> None:
        self.reads_frames = reads_frames
        self._memory_bytes = memory_bytes
        self.left_bytes = memory_bytes
        self._left_steps = hash_steps
        self._left_ms = MAX_COMPILE_MS_ALL

    def spend(self, items: int) -> None:
        """Take off one object with so many things in it.

        Raises:
            CheckpointLimitError: that is more than is left.
        """
        self.left_bytes -= OBJECT_BYTES
        self.spend_items(items)

    def spend_items(self, items: int) -> None:
        """Take off so many more things in an object; raises as `spend`."""
        self.left_bytes -= ITEM_BYTES * items
        if self.left_bytes < 0:
            self.refuse()

    def check_claim(self, raw: bytes | memoryview) -> None:
        """Refuse an array that claims more things than are left, before they are made; raises as `spend`."""
        if raw[0] == _LONG_ARRAY and OBJECT_BYTES + ITEM_BYTES * int.from_bytes(raw[1:5], "big") > self.left_bytes:
            self.refuse()

    def refuse(self) -> NoReturn:
        """Say that nothing is left. Raises CheckpointLimitError."""
        raise CheckpointLimitError(
            f"read value: its objects take more than {self._memory_bytes:,} bytes of memory",
            hint="an agent's own process reads larger ones than the console",
        )

    def compiles(self, pattern: object) -> bool:
        """Whether there is time left to compile a regular expression; takes it off."""
        took_ms = compile_ms(pattern) if isinstance(pattern, str | bytes) else 0
        if took_ms > min(self._left_ms, MAX_COMPILE_MS):
            return False
        self._left_ms -= took_ms
        return True

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
        todo = [(each, 2) for each in key if type(each) is tuple]  # a flat one costs no more than its bytes
        while todo:
            inner, depth = todo.pop()
            self._left_steps -= len(inner) + 1
            if self._left_steps < 0 or depth > MAX_DEPTH + 1:
                raise ValueError("a key whose hash takes too many steps")
            todo += [(each, depth + 1) for each in inner if type(each) is tuple]
