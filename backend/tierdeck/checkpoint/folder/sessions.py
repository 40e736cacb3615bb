"""All sessions under a root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.file.summary import Summary
from tierdeck.checkpoint.folder.disk import disk_errors, read_json
from tierdeck.checkpoint.folder.lease import RunState, run_state
from tierdeck.checkpoint.folder.listing import Owner, list_one
from tierdeck.checkpoint.folder.names import (
    SESSION_FILE,
    TRASH_FOLDER,
    is_session_folder_name,
    parse_file_name,
    session_folder_name,
)
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, Limits
from tierdeck.errors import CheckpointError, InvalidValueError

_LOOKED_AT = 10  # newest files tried before a session counts as one nobody can read


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a list. Spec: SPEC-09.22

    `size_bytes` counts the trash too, which takes `trash_bytes` of it. `newest_ns` is when its newest readable
    checkpoint was made, None when it has none. `problem` says what is wrong with it; when its id can't be told,
    `session_id` is its folder's name.
    """

    session_id: str
    path: Path
    checkpoints: int
    size_bytes: int
    newest_ns: int | None
    run: RunState
    trash_bytes: int = 0
    problem: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether an agent runs it now."""
        return self.run == "running"


def list_sessions(root: Path, *, limits: Limits = CONSOLE_LIMITS) -> list[SessionInfo]:
    """All sessions, the one with the newest checkpoint first, equal ones by id; those without any last.

    Of each one file or a few are read, 4 KB of them. A root that is not there has no sessions.

    Raises:
        CheckpointError: the root can't be read.
    """
    found = [session_info(folder, limits) for folder in session_folders(root)]
    return sorted(found, key=lambda each: (each.newest_ns is None, -(each.newest_ns or 0), each.session_id))


def session_folders(root: Path) -> list[Path]:
    """The folders of all sessions by name; links are not followed. Raises CheckpointError when it can't be read."""
    with disk_errors(f"list sessions in {root}"):
        try:
            with os.scandir(root) as entries:
                names = [
                    entry.name
                    for entry in entries
                    if is_session_folder_name(entry.name) and entry.is_dir(follow_symlinks=False)
                ]
        except FileNotFoundError:
            return []
    return [root / name for name in sorted(names)]


def session_id_of(folder: Path, limits: Limits = CONSOLE_LIMITS) -> str | None:
    """The id of the session in a folder: from its own file, else a checkpoint; None when neither fits its name.

    Raises:
        CheckpointError: the folder can't be read.
    """
    try:
        said = (read_json(folder / SESSION_FILE) or {}).get("session_id")
    except CheckpointError:
        said = None  # the checkpoints say it too
    if type(said) is str and _fits(said, folder):
        return said
    for summary in _newest_summaries(folder, [entry.name for entry in _entries(folder)], limits):
        if _fits(summary.session_id, folder):
            return summary.session_id
    return None


def session_info(folder: Path, limits: Limits = CONSOLE_LIMITS) -> SessionInfo:
    """The session in that folder; what can't be read of it is its `problem`."""
    try:
        entries = _entries(folder)
        session_id = session_id_of(folder, limits)
        files = [entry.name for entry in entries if parse_file_name(entry.name)]
        newest = next(iter(_newest_summaries(folder, files, limits)), None)
        problem = None
        if session_id is None:
            problem = "its id can't be read"
        elif files and newest is None:
            problem = "none of its newest checkpoints can be read"
        size_bytes = trash_bytes = 0
        try:
            trash_bytes = sum(map(_trash_bytes, entries))
            size_bytes = trash_bytes + sum(map(_size_bytes, entries))
        except OSError as e:
            problem = problem or f"its size can't be told: {e.strerror or e}"
        return SessionInfo(
            session_id or folder.name,
            folder,
            len(files),
            size_bytes,
            None if newest is None else newest.created_at_ns,
            _run_of(folder, newest),
            trash_bytes,
            problem,
        )
    except CheckpointError as e:
        return SessionInfo(folder.name, folder, 0, 0, None, "unknown", problem=e.message)


def _run_of(folder: Path, newest: Summary | None) -> RunState:
    state = run_state(folder)
    # Older versions wrote nothing into the lease, but mostly left an exit checkpoint.
    return "ended" if state == "unknown" and newest is not None and newest.reason == "exit" else state


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with disk_errors(f"read session folder {folder}"), os.scandir(folder) as entries:
        return list(entries)


def _newest_summaries(folder: Path, files: list[str], limits: Limits) -> Iterator[Summary]:
    ranked = sorted(((name, file) for file in files if (name := parse_file_name(file))), reverse=True)
    for _, file in ranked[:_LOOKED_AT]:
        listed = list_one(folder / file, Owner(None, limits))
        if listed is not None and listed.summary is not None:
            yield listed.summary


def _size_bytes(entry: os.DirEntry[str]) -> int:
    """What a checkpoint takes; one that vanishes meanwhile takes nothing."""
    with suppress(FileNotFoundError):
        if parse_file_name(entry.name):
            return entry.stat(follow_symlinks=False).st_size
    return 0


def _trash_bytes(entry: os.DirEntry[str]) -> int:
    """What all in the trash takes; what vanishes meanwhile takes nothing."""
    total = 0
    with suppress(FileNotFoundError):
        if entry.name == TRASH_FOLDER and entry.is_dir(follow_symlinks=False):
            with os.scandir(entry.path) as inside:
                for each in inside:
                    with suppress(FileNotFoundError):
                        total += each.stat(follow_symlinks=False).st_size
    return total


def _fits(session_id: str, folder: Path) -> bool:
    try:
        return session_folder_name(session_id) == folder.name
    except InvalidValueError:
        return False
