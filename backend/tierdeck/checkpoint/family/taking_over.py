"""The family's JSON checkpoints into the folders of their sessions, oldest first, each once."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.family.family_file import MAX_FAMILY_BYTES, FamilyCheckpoint, read_family_checkpoint
from tierdeck.checkpoint.file.pack import pack_checkpoint
from tierdeck.checkpoint.folder import open_session_folder
from tierdeck.checkpoint.kinds.loss import Loss
from tierdeck.errors import CheckpointError, CheckpointLimitError, NotFoundError, TierdeckError

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
FAMILY_FOLDER = Path("~/.rlm/checkpoints")
"""Where the family's program puts them: its `CheckpointingOrchestrator`'s default."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """One file that was taken over, or would be. `path` is None for one that was not written."""

    source: Path
    session_id: str
    checkpoint_id: str
    turn: int
    version: str
    path: Path | None
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was left where it is, and why."""

    source: Path
    why: str


@dataclass(frozen=True, slots=True)
class FamilyImport:
    """What became of each file; `known` are those that were taken over earlier."""

    taken: tuple[TakenOver, ...]
    known: tuple[Path, ...]
    refused: tuple[Refused, ...]


def family_files(folder: Path) -> list[Path]:
    """The JSON files right in a folder, by name.

    Raises:
        NotFoundError: it is not there.
        CheckpointError: it can't be read.
    """
    try:
        return sorted(each for each in folder.iterdir() if each.suffix == ".json")
    except FileNotFoundError as e:
        raise NotFoundError(f"list {folder}: no such folder") from e
    except OSError as e:
        raise CheckpointError(f"list {folder}: {e.strerror or e}") from e


def import_family_checkpoints(
    root: Path,
    sources: Iterable[Path],
    *,
    is_dry_run: bool = False,
    key: bytes | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> FamilyImport:
    """Take over JSON checkpoints. The files stay as they are; one that can't be read stops no other.

    Their order within a session is that of their times. The same file a second time changes nothing.

    Args:
        root: the folder of all sessions.
        is_dry_run: only say what would be taken over.
        key: the operator's, which the files made of them are sealed with.

    Spec: SPEC-09.26
    """
    paths, refused = _in_order(sources)
    taken: list[TakenOver] = []
    known: list[Path] = []
    for done, path in enumerate(paths, 1):
        try:
            # Read a second time, so that no more than one of them is in memory.
            made = _take_over(root, path, _read(path), is_dry_run=is_dry_run, key=key)
        except TierdeckError as e:
            refused.append(Refused(path, e.message))
        else:
            known.append(path) if made is None else taken.append(made)
        if on_progress is not None:
            on_progress(done, len(paths))
    return FamilyImport(tuple(taken), tuple(known), tuple(refused))


def _in_order(sources: Iterable[Path]) -> tuple[list[Path], list[Refused]]:
    """The files that can be read by session and time, equal ones as they were given; and the others."""
    order: list[tuple[str, int, int, Path]] = []
    refused: list[Refused] = []
    for number, path in enumerate(dict.fromkeys(sources)):
        try:
            found = _read(path).checkpoint
            order.append((found.session_id, found.created_at_ns, number, path))
        except TierdeckError as e:
            refused.append(Refused(path, e.message))
    return [path for *_, path in sorted(order)], refused


def _take_over(
    root: Path, source: Path, read: FamilyCheckpoint, *, is_dry_run: bool, key: bytes | None
) -> TakenOver | None:
    """The checkpoint written to its session's folder; None when it is there already."""
    checkpoint = read.checkpoint
    if checkpoint.checkpoint_id in _ids(root, checkpoint.session_id):
        return None
    packed = pack_checkpoint(checkpoint)
    path = None
    if not is_dry_run:
        path = open_session_folder(root, checkpoint.session_id, create=True, key=key).save(packed).path
    session_id, turn = checkpoint.session_id, checkpoint.turn
    return TakenOver(source, session_id, checkpoint.checkpoint_id, turn, read.version, path, packed.losses)


def _ids(root: Path, session_id: str) -> Sequence[str]:
    try:
        listed = open_session_folder(root, session_id).listed()
    except NotFoundError:
        return ()
    return [each.summary.checkpoint_id for each in listed if each.summary is not None]


def _read(path: Path) -> FamilyCheckpoint:
    try:
        fd = os.open(path, _FLAGS)
        with open(fd, "rb") as file:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise CheckpointError(f"read checkpoint {path}: it is no ordinary file")
            if found.st_size > MAX_FAMILY_BYTES:
                raise CheckpointLimitError(
                    f"read checkpoint {path}: {found.st_size:,} bytes, the limit is {MAX_FAMILY_BYTES:,}"
                )
            data = file.read(MAX_FAMILY_BYTES + 1)
    except FileNotFoundError as e:
        raise NotFoundError(f"read checkpoint {path}: no such file") from e
    except OSError as e:
        raise CheckpointError(f"read checkpoint {path}: {e.strerror or e}") from e
    return read_family_checkpoint(data, path.name, changed_at_ns=found.st_mtime_ns)
