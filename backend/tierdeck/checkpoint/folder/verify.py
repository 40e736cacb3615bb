"""Whether a checkpoint is as it was written: by its trailer, or by decoding all of it in a process of its own."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.file.reading import CheckpointFile
from tierdeck.checkpoint.folder.deep import decode_in_child
from tierdeck.checkpoint.folder.disk import disk_errors
from tierdeck.checkpoint.folder.listing import State, Verified
from tierdeck.checkpoint.folder.verified import read_verified, remember
from tierdeck.checkpoint.limits import Limits
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

    `bytes` is the size of the file; `is_deep` whether all of it was decoded; `is_from_cache` whether that was so
    earlier, and the file has not changed since.
    """

    state: State
    why: str | None
    bytes: int
    is_deep: bool = False
    is_from_cache: bool = False


def verify(
    path: Path,
    limits: Limits,
    *,
    is_deep: bool = False,
    key: bytes | None = None,
    use_cache: bool = True,
    on_progress: Progress | None = None,
    should_stop: Stop | None = None,
) -> VerifyResult:
    """Check a file against its trailer, or decode all of it; what is found is kept in its session's folder.

    Args:
        limits: what reading may take.
        is_deep: decode everything too, in a child process that can take no more than the limits, so that not even
            a file made to do harm reaches this one.
        key: the operator's, when trailers are keyed. What is found with a key is neither kept nor taken from there.
        use_cache: take what was found earlier of the same file, by inode, size and times. A disk that loses bits
            changes none of them.
        on_progress: told how many of how many bytes were read.
        should_stop: asked before each step.

    Raises:
        NotFoundError: no such file is there.
        CheckpointError: it can't be read.
        StoppedError: it was asked to stop; nothing is known then.
    """
    with _opened(path) as (fd, found):
        if not stat.S_ISREG(found.st_mode):
            return VerifyResult("damaged", "it is no ordinary file", 0)
        if use_cache and key is None:
            known = read_verified(path.parent).get(path.name)
            if known is not None and known.fits(found) and (known.is_deep or not is_deep or known.state != "ok"):
                return VerifyResult(known.state, known.why, found.st_size, known.is_deep, is_from_cache=True)
        source = _Watched(fd, found.st_size, on_progress, should_stop)
        state, why = _quick(source, path.name, limits, key)
        if is_deep and state == "ok":
            state, why = decode_in_child(fd, path.name, limits, key, should_stop)
    if key is None and state in ("ok", "damaged"):
        times = (found.st_mtime_ns, found.st_ctime_ns)
        remember(path, Verified(found.st_ino, found.st_size, *times, state, why, is_deep))
    return VerifyResult(state, why, found.st_size, is_deep)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[int, os.stat_result]]:
    with disk_errors(f"verify checkpoint {path}"):
        try:
            fd = os.open(path, _FLAGS)
        except FileNotFoundError as e:
            raise NotFoundError(f"verify checkpoint {path}: no such file") from e
        try:
            yield fd, os.fstat(fd)
        finally:
            os.close(fd)


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
