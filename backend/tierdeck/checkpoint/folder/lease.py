"""The lease of a session: who holds it runs the agent. The kernel frees it when its process ends.

Its file says how the last run went: `begun` when an agent takes it, `ended` when that has come to its end. Whoever
is killed in between leaves the first. A console that holds it for a moment writes nothing.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal

from tierdeck.checkpoint.folder.locks import KernelLock, is_locked

LEASE_FILE = "lease"
# Of one length: the second is written over the first by one call.
_BEGUN, _ENDED = b"begun\n", b"ended\n"
RunState = Literal["running", "ended", "stopped", "unknown"]
# Somebody who only looks whether it is held takes it shared for some microseconds.
_TRIES = 4
_PAUSE_S = 0.002


class Lease:
    """A lease that was given; `with` gives it back at the end."""

    def __init__(self, lock: KernelLock) -> None:
        self._lock = lock

    @property
    def is_held(self) -> bool:
        """Whether this process holds it. A forked child never does, whatever its parent holds."""
        return self._lock.is_held

    def begin_run(self) -> None:
        """Say that an agent runs from now on. Raises CheckpointError when the disk refuses."""
        self._lock.write(_BEGUN)

    def end_run(self) -> None:
        """Say that the agent has come to its end. Raises CheckpointError when the disk refuses."""
        self._lock.write(_ENDED)

    def release(self) -> None:
        """Give it back; harmless when that was done."""
        self._lock.release()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def take_lease(folder: Path) -> Lease | None:
    """The lease of the session in that folder; None when a process holds it.

    Raises:
        CheckpointError: its file can't be opened, or the file system has no locks.
    """
    lock = KernelLock(folder / LEASE_FILE)
    try:
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(_PAUSE_S)
            if lock.try_take():
                return Lease(lock)
    finally:
        if not lock.is_held:
            lock.release()
    return None


def run_state(folder: Path) -> RunState:
    """Whether an agent runs the session in that folder, or how its last run went.

    "stopped": its process is gone, and it had not come to its end. "unknown": no run has said anything there, as
    in a fork that nobody took up, or in a session that an older version ran.

    Raises:
        CheckpointError: the lease is there and can't be opened.
    """
    path = folder / LEASE_FILE
    if is_locked(path):
        return "running"
    said = b""
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            said = os.read(fd, len(_BEGUN))
        finally:
            os.close(fd)
    return "ended" if said == _ENDED else "stopped" if said == _BEGUN else "unknown"
