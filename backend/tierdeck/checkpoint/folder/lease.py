"""The lease of a session: who holds it runs the agent. The kernel frees it when its process ends."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType

from tierdeck.checkpoint.folder.locks import KernelLock

LEASE_FILE = "lease"
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
