"""Work on a thread of its own while the caller does something else: hashing and compression let go of the lock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Beside(Generic[_T]):
    """One piece of work, begun at once. Where no thread is to be had, it is done when its result is asked for.

    No pool: one of `concurrent.futures` takes no work once the interpreter ends, when the last save is made.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._results: list[_T] = []
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = threading.Thread(target=self._run, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the interpreter ends, or the system gives no more threads
            self._thread = None

    def result(self) -> _T:
        """What the work gave; raises what it raised."""
        if self._thread is None:
            return self._work()
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as e:  # noqa: BLE001  # the last frame of the thread; raised where it is waited for
            self._error = e
