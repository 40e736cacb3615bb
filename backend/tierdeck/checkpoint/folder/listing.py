"""The checkpoints of a folder, from 4 KB of each file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from tierdeck.checkpoint.file.header import HEAD_BYTES, HEADER_BYTES, parse_head
from tierdeck.checkpoint.file.summary import Summary
from tierdeck.checkpoint.folder.disk import disk_errors
from tierdeck.checkpoint.folder.names import FileName, parse_file_name
from tierdeck.checkpoint.limits import Limits
from tierdeck.errors import CheckpointError, CheckpointLimitError, NewerCheckpointError

State = Literal["not verified", "ok", "damaged", "newer"]
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Verified(NamedTuple):
    """What an earlier verification found, and of which bytes: nothing is said of a file that is another now."""

    inode: int
    size_bytes: int
    mtime_ns: int
    ctime_ns: int  # nobody can set this one back
    state: State
    why: str | None
    is_deep: bool

    def fits(self, found: os.stat_result) -> bool:
        """Whether it was of this file as it is."""
        return self[:4] == (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class Owner(NamedTuple):
    """Whose checkpoints are listed (one of another session is damaged, None takes any), and a reader's limits."""

    session_id: str | None
    limits: Limits


class _Facts(NamedTuple):
    summary: Summary | None
    state: State
    why: str | None


class Listed:
    """A checkpoint in a list: its file as it was then.

    Its first 4 KB have been read. What stands in them is looked into when somebody asks for it: of ten thousand
    rows a screen shows forty.

    Spec: SPEC-09.22
    """

    __slots__ = (
        "_facts", "_known", "_label", "_owner", "_raw", "file", "folder", "is_head", "is_pinned", "sequence",
        "size_bytes", "turn",
    )  # fmt: skip

    def __init__(self, folder: Path, file: str, name: FileName, size_bytes: int, raw: bytes, owner: Owner) -> None:
        self.folder = folder
        self.file = file
        self.sequence = name.sequence
        self.turn = name.turn
        self.size_bytes = size_bytes
        self.is_pinned = False
        self.is_head = False
        self._label: tuple[str | None] | None = None
        self._raw = raw
        self._owner = owner
        self._facts: _Facts | None = None
        self._known: Verified | None = None

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / self.file

    @property
    def summary(self) -> Summary | None:
        """What it says of itself; None when it is damaged, newer, or can't be read."""
        return self._judged().summary

    @property
    def state(self) -> State:
        """ "not verified": header and summary are sound, or could not be read; the rest was not looked at."""
        return self._judged().state

    @property
    def why(self) -> str | None:
        """Why it is not sound, or can't be read."""
        return self._judged().why

    @property
    def label(self) -> str | None:
        """The one given last: beside the file, else in it."""
        if self._label is not None:
            return self._label[0]
        return None if self.summary is None else self.summary.label

    def set_label(self, label: str | None) -> None:
        """Have another label than the one in the file."""
        self._label = (label,)

    def set_verified(self, known: Verified) -> None:
        """What verifying it has found; a file whose summary can't be read stays what it is."""
        self._known, self._facts = known, None

    def set_ok(self) -> None:
        """That it was verified just now, and is sound."""
        self._facts = self._judged()._replace(state="ok", why=None)

    def glance(self) -> Summary | None:
        """As `summary`, and not kept: for who goes over ten thousand, of which few are ever shown."""
        return self._facts.summary if self._facts is not None else self._read_facts().summary

    def __repr__(self) -> str:
        return f"<Listed {self.file} {self.state}>"

    def _judged(self) -> _Facts:
        if self._facts is None:
            self._facts = self._read_facts()
        return self._facts

    def _read_facts(self) -> _Facts:
        facts = _judge(self._raw, self.file, self.size_bytes, self._owner)
        if facts.summary is not None and self._known is not None:
            return facts._replace(state=self._known.state, why=self._known.why)
        return facts


def file_names(folder: Path) -> list[tuple[FileName, str]]:
    """The names of all checkpoints in a folder, by sequence. Raises CheckpointError when it can't be read."""
    with disk_errors(f"list checkpoints in {folder}"):
        return _sorted_names(os.listdir(folder))


def list_files(folder: Path, owner: Owner, verified: Mapping[str, Verified]) -> list[Listed]:
    """All checkpoints in a folder by sequence, oldest first; labels, pins and HEAD are not filled in.

    Args:
        verified: what is known of them by name.

    Raises:
        CheckpointError: the folder can't be read.
    """
    with disk_errors(f"list checkpoints in {folder}"):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return [
                listed
                for name, file in _sorted_names(os.listdir(fd))
                if (listed := _look(folder, file, name, fd, owner, verified)) is not None
            ]
        finally:
            os.close(fd)


def list_one(path: Path, owner: Owner, verified: Mapping[str, Verified] | None = None) -> Listed | None:
    """One file by its path, whatever it is called; None when it is not there. Its folder may be no session's.

    Raises:
        CheckpointError: its folder can't be read.
    """
    name = parse_file_name(path.name)
    with disk_errors(f"read checkpoint {path}"):
        try:
            fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            listed = _look(path.parent, path.name, name or FileName(0, 0, ""), fd, owner, verified or {})
        finally:
            os.close(fd)
    if name is None and listed is not None and listed.summary is not None:
        listed.turn = listed.summary.turn
    return listed


def _sorted_names(files: list[str]) -> list[tuple[FileName, str]]:
    return sorted([(name, file) for file in files if (name := parse_file_name(file)) is not None])


def _look(
    folder: Path, file: str, name: FileName, dir_fd: int, owner: Owner, verified: Mapping[str, Verified]
) -> Listed | None:
    try:
        fd = os.open(file, _FLAGS, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    except OSError as e:
        if e.errno == errno.ENAMETOOLONG:
            return None
        return _unread(folder, file, name, owner, *_refused(file, dir_fd, e))
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return _unread(folder, file, name, owner, "damaged", "it is no ordinary file")
        data = os.read(fd, HEAD_BYTES)
    except OSError as e:
        return _unread(folder, file, name, owner, "not verified", f"it can't be read: {e.strerror}")
    finally:
        os.close(fd)
    # What parse_head needs of them, and not 4 KB for each of ten thousand.
    raw = data[: HEADER_BYTES + int.from_bytes(data[16:20], "little")]
    listed = Listed(folder, file, name, found.st_size, raw, owner)
    if verified and (known := verified.get(file)) is not None and known.fits(found):
        listed.set_verified(known)
    return listed


def _judge(raw: bytes, file: str, size_bytes: int, owner: Owner) -> _Facts:
    try:
        summary = parse_head(raw, file_bytes=size_bytes, name=file, limits=owner.limits).summary
    except NewerCheckpointError as e:
        return _Facts(None, "newer", e.message)
    except CheckpointLimitError as e:
        return _Facts(None, "not verified", e.message)
    except CheckpointError as e:
        return _Facts(None, "damaged", e.message)
    if owner.session_id is not None and summary.session_id != owner.session_id:
        return _Facts(None, "damaged", f"it is of another session: {summary.session_id[:80]!r}")
    return _Facts(summary, "not verified", None)


def _unread(folder: Path, file: str, name: FileName, owner: Owner, state: State, why: str) -> Listed:
    listed = Listed(folder, file, name, 0, b"", owner)
    listed._facts = _Facts(None, state, why)
    return listed


def _refused(file: str, dir_fd: int, error: OSError) -> tuple[State, str]:
    try:
        if stat.S_ISLNK(os.stat(file, dir_fd=dir_fd, follow_symlinks=False).st_mode):
            return "damaged", "it is a link, which is not followed"
    except OSError:
        return "not verified", "it went away"
    return "not verified", f"it can't be read: {error.strerror}"
