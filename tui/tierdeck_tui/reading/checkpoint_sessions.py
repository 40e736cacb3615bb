"""The sessions that have checkpoints, and what is in those that are opened; read in workers, 4 KB a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tierdeck.checkpoint.file.key_file import key_named
from tierdeck.checkpoint.folder import (
    Answer,
    Listed,
    Request,
    SessionFolder,
    SessionInfo,
    Trashed,
    checkpoints_root,
    list_sessions,
    list_trash,
)
from tierdeck.checkpoint.folder.lease import LEASE_FILE
from tierdeck.checkpoint.folder.locks import is_locked
from tierdeck.checkpoint.folder.requests import CLAIM_FILE, list_answers, read_request
from tierdeck.checkpoint.folder.sessions import session_folders
from tierdeck.checkpoint.journal import BranchLine, read_beginnings
from tierdeck.config import Settings
from tierdeck.errors import CheckpointError

T = TypeVar("T")
Signature = tuple[tuple[str, int, int, int, bool], ...]


@dataclass(frozen=True, slots=True)
class SessionContents:
    """The checkpoints of one session, oldest first, and what else there is about it.

    `request` is what its agent was asked for and has not seen, `claimed` what it is doing now, `answer` the newest
    that it gave (answers are swept after an hour). `trash` is what was cleared away; `beginnings` what the journals
    say of where branches began; `problems` what is wrong.
    """

    listed: tuple[Listed, ...]
    request: Request | None = None
    claimed: Request | None = None
    answer: Answer | None = None
    trash: tuple[Trashed, ...] = ()
    beginnings: Mapping[str, BranchLine] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


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


def key_of(settings: Settings) -> bytes | None:
    """The key that checkpoints are sealed with, as the settings have it. Raises as `key_named`."""
    return key_named(settings.checkpoints.key_file)


def folder_of(info: SessionInfo, key: bytes | None = None) -> SessionFolder:
    """The session's folder; with the key where files are sealed or checked."""
    return SessionFolder(info.path, info.session_id, key=key)


def read_sessions(root: Path, opened: Collection[str] | None) -> Sessions:
    """The sessions, and the checkpoints of those whose folders are called so; None opens the newest one.

    What can't be read of one session is told by its `problems`, and the others are read all the same.

    Raises:
        CheckpointError: the root can't be read.
    """
    signature = signature_of(root)
    infos = tuple(list_sessions(root))
    if opened is None:
        opened = {info.path.name for info in infos[:1]}
    contents = {info.path.name: _contents(info) for info in infos if info.path.name in opened}
    return Sessions(root, root.is_dir(), infos, contents, signature)


def signature_of(root: Path) -> Signature:
    """Changes when a session came or went, its agent began or ended, or something was saved, marked or asked there.

    Raises:
        CheckpointError: the root can't be read.
    """
    sessions = [(path.name, *stamp_of(path), _is_live(path)) for path in session_folders(root)]
    return (("", *stamp_of(root), False), *sessions)


def _contents(info: SessionInfo) -> SessionContents:
    folder = folder_of(info)
    problems: list[str] = []
    try:
        listed = tuple(folder.listed())
        problems += folder.problems()
    except CheckpointError as e:
        return SessionContents((), problems=(e.message,))

    def read(what: Callable[[], T]) -> T | None:
        try:
            return what()
        except CheckpointError as e:
            problems.append(e.message)
            return None

    return SessionContents(
        listed,
        # As they lie there: looking takes none away.
        request=read(lambda: read_request(folder.path)),
        claimed=read(lambda: read_request(folder.path, CLAIM_FILE)),
        answer=read(lambda: next(iter(list_answers(folder.path)), None)),
        trash=tuple(read(lambda: list_trash(folder)) or ()),
        beginnings=read_beginnings(folder.path),
        problems=tuple(problems),
    )


def _is_live(folder: Path) -> bool:
    try:
        return is_locked(folder / LEASE_FILE)
    except CheckpointError:
        return False  # reading the session says why


def stamp_of(path: Path) -> tuple[int, int, int]:
    """Which file or folder it is, when it was last written, how long it is; zeros for one that is not there."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size
