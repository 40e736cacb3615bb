"""Saves in the background: one at a time, on a thread that lives as long as there is something to write.

The thread is no daemon, so the interpreter waits for it at exit: what was handed over is written.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tierdeck.checkpoint.file.snapshot import Snapshot
from tierdeck.checkpoint.folder import SavedCheckpoint

_STACK_BYTES = 1 << 20  # of the packer, 400 levels take some 150 KB


@dataclass(slots=True, eq=False)
class Save:
    """A save that was handed over. When it is over, either `saved` or `problem` is there, or it was `replaced`: a
    newer automatic one took its place before its turn came.
    """

    snapshot: Snapshot
    is_automatic: bool
    saved: SavedCheckpoint | None = None
    problem: str | None = None
    is_replaced: bool = False


class BackgroundSaver:
    """One save is written, at most one automatic one waits; the others that wait were asked for by somebody.

    Args:
        write: puts a checkpoint on disk; called on the background thread.
        on_failed: told what `write` raised, gives it as a sentence.
    """

    def __init__(
        self, write: Callable[[Snapshot], SavedCheckpoint], on_failed: Callable[[BaseException], str]
    ) -> None:
        self._write = write
        self._on_failed = on_failed
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._waiting: deque[Save] = deque()
        self._is_busy = False

    def submit(self, snapshot: Snapshot, *, is_automatic: bool) -> Save:
        """Hand a checkpoint over; returns at once."""
        save = Save(snapshot, is_automatic)
        with self._changed:
            if is_automatic:
                for other in [other for other in self._waiting if other.is_automatic]:
                    other.is_replaced = True
                    self._waiting.remove(other)
            self._waiting.append(save)
            if self._is_busy:
                return save
            self._is_busy = True
        try:
            _start(threading.Thread(target=self._work, name="tierdeck-save", daemon=False))
        except RuntimeError:
            self._work()  # the interpreter ends, or the system gives no more threads
        return save

    def flush(self) -> None:
        """Wait until everything that was handed over is written, or has failed."""
        if os.getpid() != self._pid:
            return  # the thread stayed with the parent
        with self._changed:
            self._changed.wait_for(lambda: not self._is_busy)

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._is_busy = False
                    self._changed.notify_all()
                    return
                save = self._waiting.popleft()
            try:
                save.saved = self._write(save.snapshot)
            except BaseException as e:  # noqa: BLE001  # the last frame of the thread
                save.problem = self._on_failed(e)


def _start(thread: threading.Thread) -> None:
    """Start it with a stack that packs the deepest value, whatever the program has set for its own threads."""
    set_bytes = threading.stack_size()
    if not 0 < set_bytes < _STACK_BYTES:
        thread.start()
        return
    threading.stack_size(_STACK_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(set_bytes)
