"""Checkpoints to save, each with an id of its own, and the folder they go to."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from tierdeck.checkpoint import Checkpoint, Packed, pack_checkpoint
from tierdeck.checkpoint.folder import SavedCheckpoint, SessionFolder, open_session_folder

SESSION = "agent-7"
NOW_NS = 1_790_000_000_000_000_000
BRANCH, OTHER_BRANCH = "aaaaaaaa", "bbbbbbbb"
_numbers = itertools.count(1)


def packed(turn: int = 1, **changes: object) -> Packed:
    """A small automatic checkpoint; `changes` replace its fields."""
    fields: dict[str, object] = {
        "session_id": SESSION,
        "checkpoint_id": f"{next(_numbers):016x}"[::-1],
        "created_at_ns": NOW_NS,
        "turn": turn,
        "branch": BRANCH,
        "repl_state": {"turn": turn},
    }
    return pack_checkpoint(Checkpoint(**(fields | changes)))  # type: ignore[arg-type]  # the fields' own names


def opened(root: Path, session_id: str = SESSION, *, clock_ns: Callable[[], int] = lambda: NOW_NS) -> SessionFolder:
    """The session's folder, made when it is not there, with a clock that stands still."""
    return open_session_folder(root, session_id, create=True, clock_ns=clock_ns)


def filled(root: Path, count: int, session_id: str = SESSION, **changes: object) -> SessionFolder:
    """The same with so many checkpoints in it, turns from 1 on."""
    folder = opened(root, session_id)
    save_all(folder, count, **changes)
    return folder


def save_all(folder: SessionFolder, count: int, **changes: object) -> list[SavedCheckpoint]:
    """Save so many."""
    changes.setdefault("session_id", folder.session_id)
    return [folder.save(packed(turn, **changes)) for turn in range(1, count + 1)]


def files(folder: SessionFolder) -> list[str]:
    """The names of all checkpoints, oldest first."""
    return [each.file for each in folder.listed()]


def flip(path: Path, at: int = -100) -> None:
    """Change one byte of a file."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(data)
