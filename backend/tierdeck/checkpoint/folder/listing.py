"""The checkpoints of a folder, from 4 KB of each file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from tierdeck.checkpoint.folder.disk import disk_errors
from tierdeck.checkpoint.folder.names import FileName, parse_file_name
from tierdeck.checkpoint.header import HEAD_BYTES, parse_head
from tierdeck.checkpoint.limits import Limits
from tierdeck.checkpoint.summary import Summary
from tierdeck.errors import CheckpointError, CheckpointLimitError, NewerCheckpointError

State = Literal["not verified", "ok", "damaged", "newer"]
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Listed:
    """A checkpoint in a list. Spec: SPEC-09.22

    `summary` is None when the file is damaged, newer or can't be read; `why` says so. State "not verified": header
    and summary are sound, the rest was not looked at. `label` is the one given last.
    """

    folder: Path
    file: str
    sequence: int
    turn: int
    size_bytes: int
    summary: Summary | None
    state: State = "not verified"
    why: str | None = None
    label: str | None = None
    is_pinned: bool = False
    is_head: bool = False

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / self.file


class Verified(NamedTuple):
    """What an earlier verification found, and of which bytes: nothing is said of a file that is another now."""

    inode: int
    size_bytes: int
    mtime_ns: int
    state: State
    why: str | None
    is_deep: bool

    def fits(self, found: os.stat_result) -> bool:
        """Whether it was of this file as it is."""
        return (self.inode, self.size_bytes, self.mtime_ns) == (found.st_ino, found.st_size, found.st_mtime_ns)


class _Seen(NamedTuple):
    size_bytes: int
    summary: Summary | None
    state: State
    why: str | None


def file_names(folder: Path) -> list[tuple[FileName, str]]:
    """The names of all checkpoints in a folder, by sequence. Raises CheckpointError when it can't be read."""
    with disk_errors(f"list checkpoints in {folder}"):
        return _sorted_names(os.listdir(folder))


def list_files(
    folder: Path, session_id: str | None, limits: Limits, verified: Mapping[str, Verified]
) -> Iterator[Listed]:
    """All checkpoints in a folder by sequence, oldest first; labels, pins and HEAD are not filled in.

    Args:
        session_id: whose they must be: one of another session is damaged. None takes any.
        verified: what is known of them by name.

    Raises:
        CheckpointError: the folder can't be read.
    """
    with disk_errors(f"list checkpoints in {folder}"):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name, file in _sorted_names(os.listdir(fd)):
                seen = _seen(file, fd, session_id, limits, verified.get(file))
                if seen is not None:
                    yield Listed(folder, file, name.sequence, name.turn, *seen)
        finally:
            os.close(fd)


def list_one(
    path: Path, limits: Limits, verified: Verified | None = None, *, session_id: str | None = None
) -> Listed | None:
    """One file by its path, whatever it is called; None when it is not there. Its folder may be no session's."""
    name = parse_file_name(path.name) or FileName(0, 0, "")
    with disk_errors(f"read checkpoint {path}"):
        seen = _seen(str(path), None, session_id, limits, verified)
    return None if seen is None else Listed(path.parent, path.name, name.sequence, name.turn, *seen)


def _sorted_names(files: list[str]) -> list[tuple[FileName, str]]:
    return sorted((name, file) for file in files if (name := parse_file_name(file)) is not None)


def _seen(
    file: str, dir_fd: int | None, session_id: str | None, limits: Limits, known: Verified | None
) -> _Seen | None:
    try:
        fd = os.open(file, _FLAGS, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    except OSError as e:
        is_link = stat.S_ISLNK(os.stat(file, dir_fd=dir_fd, follow_symlinks=False).st_mode)
        return _Seen(0, None, "damaged" if is_link else "not verified", _why_not(e, is_link))
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return _Seen(0, None, "damaged", "it is no ordinary file")
        return _judged(os.read(fd, HEAD_BYTES), found, file, session_id, limits, known)
    except OSError as e:
        return _Seen(0, None, "not verified", f"it can't be read: {e.strerror}")
    finally:
        os.close(fd)


def _judged(
    data: bytes, found: os.stat_result, file: str, session_id: str | None, limits: Limits, known: Verified | None
) -> _Seen:
    try:
        summary = parse_head(data, file_bytes=found.st_size, name=file, limits=limits).summary
    except NewerCheckpointError as e:
        return _Seen(found.st_size, None, "newer", e.message)
    except CheckpointLimitError as e:
        return _Seen(found.st_size, None, "not verified", e.message)
    except CheckpointError as e:
        return _Seen(found.st_size, None, "damaged", e.message)
    if session_id is not None and summary.session_id != session_id:
        return _Seen(found.st_size, None, "damaged", f"it is of another session: {summary.session_id[:80]!r}")
    if known is not None and known.fits(found):
        return _Seen(found.st_size, summary, known.state, known.why)
    return _Seen(found.st_size, summary, "not verified", None)


def _why_not(error: OSError, is_link: bool) -> str:
    return "it is a link, which is not followed" if is_link else f"it can't be read: {error.strerror}"
