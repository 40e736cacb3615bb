"""Whether a checkpoint is as it was written."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.folder.disk import disk_errors
from tierdeck.checkpoint.folder.listing import State
from tierdeck.checkpoint.limits import Limits
from tierdeck.checkpoint.reading import CheckpointFile
from tierdeck.errors import (
    CheckpointError,
    DamagedCheckpointError,
    NewerCheckpointError,
    NotFoundError,
    StoppedError,
)

Progress = Callable[[int, int], None]
Stop = Callable[[], bool]
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What was found. "not verified" when that could not be told: `why` says what was in the way.

    `bytes` is the size of the file.
    """

    state: State
    why: str | None
    bytes: int


def verify(
    path: Path,
    limits: Limits,
    *,
    key: bytes | None = None,
    on_progress: Progress | None = None,
    should_stop: Stop | None = None,
) -> VerifyResult:
    """Check a file against its trailer.

    Args:
        key: the operator's, when trailers are keyed.
        on_progress: told how many of how many bytes were read.
        should_stop: asked before each step.

    Raises:
        NotFoundError: no such file is there.
        CheckpointError: it can't be read.
        StoppedError: it was asked to stop; nothing is known then.
    """
    with disk_errors(f"verify checkpoint {path}"):
        try:
            fd = os.open(path, _FLAGS)
        except FileNotFoundError as e:
            raise NotFoundError(f"verify checkpoint {path}: no such file") from e
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                return VerifyResult("damaged", "it is no ordinary file", 0)
            state, why = _quick(_Watched(fd, found.st_size, on_progress, should_stop), path.name, limits, key)
        finally:
            os.close(fd)
    return VerifyResult(state, why, found.st_size)


class _Watched:
    """A file's bytes; says how far reading is, and ends it when asked to."""

    def __init__(self, fd: int, size_bytes: int, on_progress: Progress | None, should_stop: Stop | None) -> None:
        self._fd, self._size_bytes = fd, size_bytes
        self._on_progress, self._should_stop = on_progress, should_stop

    def read(self, offset: int, length: int) -> bytes:
        """So many bytes from there; fewer at the end."""
        if self._should_stop is not None and self._should_stop():
            raise StoppedError("verify checkpoint: it was asked to stop")
        data = os.pread(self._fd, length, offset)
        if self._on_progress is not None:
            self._on_progress(min(offset + len(data), self._size_bytes), self._size_bytes)
        return data

    def size(self) -> int:
        """How many there are."""
        return self._size_bytes


def _quick(source: _Watched, name: str, limits: Limits, key: bytes | None) -> tuple[State, str | None]:
    try:
        CheckpointFile(source, name, limits=limits, key=key).verify()
    except DamagedCheckpointError as e:
        return "damaged", e.message
    except NewerCheckpointError as e:
        return "newer", e.message
    except CheckpointError as e:
        return "not verified", e.message
    return "ok", None
