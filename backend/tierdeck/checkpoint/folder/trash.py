"""What retention took away: kept for seven days beside the others, and put back when somebody misses it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tierdeck.checkpoint.folder.disk import disk_errors, flush_folder
from tierdeck.checkpoint.folder.listing import file_names
from tierdeck.checkpoint.folder.marks import read_marks, write_marks
from tierdeck.checkpoint.folder.names import TRASH_FOLDER, TrashName, parse_trash_name
from tierdeck.checkpoint.folder.session_folder import SessionFolder
from tierdeck.checkpoint.folder.verify import Progress, Stop
from tierdeck.errors import CheckpointError, ConflictError, NotFoundError

KEPT_DAYS = 7
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Trashed:
    """A checkpoint in the trash. `is_automatic`: retention after a save put it there, and not a person."""

    path: Path
    file: str
    sequence: int
    turn: int
    size_bytes: int
    trashed_ms: int
    is_automatic: bool


class Emptied(NamedTuple):
    """What is gone for good."""

    files: tuple[str, ...]
    size_bytes: int


def list_trash(folder: SessionFolder) -> list[Trashed]:
    """What lies in a session's trash, by sequence. Raises CheckpointError when it can't be read."""
    trash = folder.path / TRASH_FOLDER
    found = []
    with disk_errors(f"list trash {trash}"):
        if not _is_folder(trash):
            return []
        with os.scandir(trash) as entries:
            for entry in entries:
                named = parse_trash_name(entry.name)
                if named is not None and entry.is_file(follow_symlinks=False):
                    size_bytes = entry.stat(follow_symlinks=False).st_size
                    (trashed_ms, is_automatic, file), name = named
                    found.append(
                        Trashed(
                            Path(entry.path), file, name.sequence, name.turn, size_bytes, trashed_ms, is_automatic
                        )
                    )
    return sorted(found, key=lambda each: (each.sequence, each.trashed_ms))


def move_to_trash(
    folder: SessionFolder,
    files: Sequence[str],
    *,
    is_automatic: bool,
    on_progress: Progress | None = None,
    should_stop: Stop | None = None,
) -> list[str]:
    """Take checkpoints of the session away; for who holds its lock.

    Args:
        on_progress: told how many of how many were moved.
        should_stop: asked before each.

    Returns:
        Those that are away: fewer when it was asked to stop.

    Raises:
        CheckpointError: the disk refuses; some may have been moved, none is lost.
    """
    trash = folder.path / TRASH_FOLDER
    with disk_errors(f"move checkpoints to {trash}"):
        with suppress(FileExistsError):
            trash.mkdir(mode=0o700)
        if not _is_folder(trash):
            raise CheckpointError(f"move checkpoints to {trash}: it is no folder", hint="a link is not followed")
        now_ms = folder.clock_ns() // 1_000_000
        moved: list[str] = []
        for file in files:
            if should_stop is not None and should_stop():
                break
            with suppress(FileNotFoundError):
                os.rename(folder.path / file, trash / str(TrashName(now_ms, is_automatic, file)))
            moved.append(file)
            if on_progress is not None:
                on_progress(len(moved), len(files))
        flush_folder(trash)
        flush_folder(folder.path)
    return moved


def restore_from_trash(folder: SessionFolder, file: str) -> Path:
    """Put a checkpoint back where it was.

    Args:
        file: its name, as it was before it went to the trash.

    Returns:
        Where it lies now.

    Raises:
        NotFoundError: the trash has none of that name.
        ConflictError: the session has one of that name; both are as they were.
        CheckpointError: the disk refuses; it is in the trash still.
    """
    with folder.locked(), disk_errors(f"restore {file[:80]} from the trash"):
        found = [each for each in list_trash(folder) if each.file == file]
        if not found:
            raise NotFoundError(f"restore {file[:80]!r} from the trash: it is not there")
        target = folder.path / file
        if os.path.lexists(target):
            raise ConflictError(f"restore {file} from the trash: the session has one of that name")
        os.rename(found[-1].path, target)
        flush_folder(folder.path)
        flush_folder(found[-1].path.parent)
    return target


def empty_trash(
    folder: SessionFolder, *, older_than_days: float = KEPT_DAYS, max_automatic_bytes: int | None = None
) -> Emptied:
    """Unlink for good what has been in the trash long enough.

    Args:
        max_automatic_bytes: of what retention put there by itself no more than this is kept, the latest; None: all.

    Raises:
        DamagedCheckpointError: the session's marks can't be read; nothing is unlinked.
        CheckpointError: the disk refuses; some may be gone.
    """
    trashed = list_trash(folder)
    if not trashed:
        return Emptied((), 0)
    before_ms = folder.clock_ns() // 1_000_000 - older_than_days * DAY_MS
    with folder.locked(), disk_errors(f"empty trash of {folder.path}"):
        gone = [each for each in list_trash(folder) if each.trashed_ms <= before_ms]
        gone += _beyond(max_automatic_bytes, [each for each in list_trash(folder) if each not in gone])
        if gone:
            _forget(folder, gone)
            for each in gone:
                each.path.unlink(missing_ok=True)
    gone.sort(key=lambda each: each.sequence)
    return Emptied(tuple(each.file for each in gone), sum(each.size_bytes for each in gone))


def _beyond(max_bytes: int | None, trashed: Sequence[Trashed]) -> list[Trashed]:
    """The oldest that automatic retention put there, so many that the others fit."""
    if max_bytes is None:
        return []
    kept_bytes, gone = 0, []
    for each in sorted(trashed, key=lambda each: (each.trashed_ms, each.sequence), reverse=True):
        if each.is_automatic:
            kept_bytes += each.size_bytes
            if kept_bytes > max_bytes:
                gone.append(each)
    return gone


def _forget(folder: SessionFolder, gone: Sequence[Trashed]) -> None:
    """Have no later checkpoint get the sequence of one that is gone.

    Nothing is written when a later one is there and says so itself: a full disk would take nothing, and no room
    be made then.
    """
    marks = read_marks(folder.path)
    highest = max(each.sequence for each in gone)
    files = {each.file for each in gone}
    is_told = any(name.sequence > highest for name, _ in file_names(folder.path))
    after = replace(
        marks,
        highest_sequence=marks.highest_sequence if is_told else max(marks.highest_sequence, highest),
        labels={file: label for file, label in marks.labels.items() if file not in files},
        pins=marks.pins - files,
    )
    if after != marks:
        write_marks(folder.path, after)


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False
