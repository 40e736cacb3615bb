"""Sections decompressed ahead of whoever decodes them: decompression lets go of the interpreter's lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Final

from tierdeck.checkpoint.limits import MB

ROOM_BYTES: Final = 16 * MB  # so much is held that nobody has taken yet
_LEAST_BYTES = 64 * 1024  # a smaller one takes less time than to hand it over


class Ahead:
    """A thread that makes sections in the order in which they will be asked for.

    It never keeps anybody waiting for more than the one it is at, and raises nothing: whoever asks for what it
    could not make makes it, and sees why it can't be made.

    Args:
        plan: numbers of sections and how many bytes each takes, each once; called on the thread.
        make: makes the bytes of one; called on the thread.
    """

    def __init__(self, plan: Callable[[], Iterable[tuple[int, int]]], make: Callable[[int], bytes]) -> None:
        self._plan, self._make = plan, make
        self._changed = threading.Condition()
        self._made: dict[int, bytes] = {}
        self._held_bytes = 0
        self._at: int | None = None
        self._passed_over: set[int] = set()
        self._is_over = False
        self._thread: threading.Thread | None = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Ahead:
        try:
            if self._thread is not None:
                self._thread.start()
        except RuntimeError:  # the interpreter ends, or the system gives no more threads
            self._thread = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        self._made.clear()

    def take(self, number: int) -> bytes | None:
        """The bytes of a section, once; None when it was not begun, or could not be made."""
        with self._changed:
            self._passed_over.add(number)
            self._changed.wait_for(lambda: self._at != number)
            made = self._made.pop(number, None)
            if made is not None:
                self._held_bytes -= len(made)
                self._changed.notify_all()
            return made

    def _run(self) -> None:
        # Whoever asks for it meets the same error, and tells of it.
        with suppress(Exception):
            for number, size in self._plan():
                if _LEAST_BYTES <= size <= ROOM_BYTES and not self._is_made(number, size):
                    break
        with self._changed:
            self._at, self._is_over = None, True
            self._changed.notify_all()

    def _is_made(self, number: int, size: int) -> bool:
        """Make one when there is room; False when it is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._held_bytes + size <= ROOM_BYTES)
            if self._is_over:
                return False
            if number in self._passed_over:
                return True
            self._at = number
        made = self._make(number)
        with self._changed:
            self._made[number] = made
            self._held_bytes += len(made)
            self._at = None
            self._changed.notify_all()
        return True
