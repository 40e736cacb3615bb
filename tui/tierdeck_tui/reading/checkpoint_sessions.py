"""The sessions that have checkpoints, and what is in those that are opened; read in workers, 4 KB a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.folder import Listed, Request, SessionFolder, SessionInfo, checkpoints_root, list_sessions
from tierdeck.checkpoint.folder.requests import read_request
from tierdeck.config import Settings
from tierdeck.errors import CheckpointError

Signature = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SessionContents:
    """The checkpoints of one session, oldest first; what its agent was asked for; and what is wrong with it."""

    listed: tuple[Listed, ...]
    request: Request | None
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sessions:
    """All sessions, the newest first, and by their folder's name the contents of those that are opened.

    `signature` is that of their folders before they were read: what changed meanwhile has another one.
    """

    root: Path
    is_there: bool
    infos: tuple[SessionInfo, ...]
    contents: Mapping[str, SessionContents]
    signature: Signature


def root_of(settings: Settings) -> Path:
    """The folder of all sessions, by the settings. Raises InvalidValueError when they name no path."""
    return checkpoints_root(settings.checkpoints.folder or None)


def folder_of(info: SessionInfo) -> SessionFolder:
    """The session's folder."""
    return SessionFolder(info.path, info.session_id)


def read_sessions(root: Path, opened: Collection[str] | None) -> Sessions:
    """The sessions, and the checkpoints of those whose folders are called so; None opens the newest one.

    What can't be read of one session is told by its `problems`, and the others are read all the same.

    Raises:
        CheckpointError: the root can't be read.
    """
    stamp = _stamp(root)
    infos = tuple(list_sessions(root))
    if opened is None:
        opened = {info.path.name for info in infos[:1]}
    wanted = [info for info in infos if info.path.name in opened]
    signature = (stamp, *signature_of(root, [info.path.name for info in wanted])[1:])
    contents = {info.path.name: _contents(info) for info in wanted}
    return Sessions(root, root.is_dir(), infos, contents, signature)


def signature_of(root: Path, opened: Collection[str]) -> Signature:
    """Changes when a session came or went, or something was saved, marked or asked for in an opened one."""
    return tuple(_stamp(path) for path in (root, *(root / name for name in sorted(opened))))


def _contents(info: SessionInfo) -> SessionContents:
    folder = folder_of(info)
    try:
        listed = tuple(folder.listed())
        problems = folder.problems()
    except CheckpointError as e:
        return SessionContents((), None, (e.message,))
    request = None
    try:
        request = read_request(folder.path)  # as it lies there: looking takes none away
    except CheckpointError as e:
        problems.append(e.message)
    return SessionContents(listed, request, tuple(problems))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns
