"""A kernel lock on a file that is never unlinked: held by one process, freed when that ends, however it ends.

Unlinking it would let two processes lock two files of one name. `flock` and not `lockf`: the latter is lost as soon
as any part of the process closes the file. A forked child shares the open file and would keep the lock after its
parent's death, so there it is closed at once; closing, unlike unlocking, leaves it to the parent.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tierdeck.checkpoint.folder.disk import disk_errors
from tierdeck.errors import CheckpointError

WAIT_S = 30.0
_STEP_S = 0.005
_guard = threading.RLock()  # no fork between opening a file and knowing of it
_open_locks: set[KernelLock] = set()


class KernelLock:
    """A lock that was opened; `try_take` takes it, `release` gives it back and closes the file."""

    def __init__(self, path: Path) -> None:
        """Open the lock's file; it is made, for its owner alone, when it is not there.

        Raises:
            CheckpointError: it can't be opened.
        """
        self._path = path
        self._is_taken = False
        self._fd = -1
        with _guard, disk_errors(f"lock {path}"):
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            _open_locks.add(self)

    @property
    def is_held(self) -> bool:
        """Whether this process holds it; never in a forked child."""
        return self._is_taken

    def try_take(self) -> bool:
        """Take it when nobody else holds it, without waiting.

        Raises:
            CheckpointError: the file system has no locks.
        """
        if not self._is_taken and self._fd >= 0:
            with disk_errors(f"lock {self._path}"):
                try:
                    fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
            self._is_taken = True
        return self._is_taken

    def write(self, data: bytes) -> None:
        """Have its file begin with this, also after a power cut; for who holds it.

        Raises:
            CheckpointError: the disk refuses.
        """
        with disk_errors(f"write {self._path}"):
            os.pwrite(self._fd, data, 0)
            os.fsync(self._fd)

    def release(self) -> None:
        """Give it back. Harmless when it is not held any more."""
        with _guard:
            if self._fd >= 0:
                if self._is_taken:
                    fcntl.flock(self._fd, fcntl.LOCK_UN)
                self.forget()
            _open_locks.discard(self)

    def forget(self) -> None:
        """Close the file without unlocking it."""
        os.close(self._fd)
        self._fd, self._is_taken = -1, False


@contextmanager
def locked(path: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock of that file.

    Raises:
        CheckpointError: the file can't be opened, or somebody else held it all the time.
    """
    lock = KernelLock(path)
    try:
        until = time.monotonic() + wait_s
        while not lock.try_take():
            if time.monotonic() > until:
                raise CheckpointError(
                    f"lock {path}: another process has held it for {wait_s:g} s",
                    hint="it may be stopped in the middle of a save",
                )
            time.sleep(_STEP_S)
        yield
    finally:
        lock.release()


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock; False when its file is not there. Takes it shared for a moment.

    Raises:
        CheckpointError: the file is there and can't be opened.
    """
    with disk_errors(f"look at lock {path}"), _guard:
        # Under the guard, so that no fork can carry the file away while it is open.
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False


def _after_in_child() -> None:
    for lock in _open_locks:
        lock.forget()
    _open_locks.clear()
    _guard.release()


os.register_at_fork(before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_after_in_child)
