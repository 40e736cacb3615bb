"""HEAD: which checkpoint a session goes on from, and on which branch."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.folder.disk import read_json, replace_json
from tierdeck.checkpoint.folder.names import parse_file_name
from tierdeck.errors import DamagedCheckpointError

HEAD_FILE = "HEAD"
_BRANCH = re.compile(r"[0-9a-f]{8}")
_MAX_GENERATION = 2**53


@dataclass(frozen=True, slots=True)
class HeadPointer:
    """Where a session goes on.

    `file` is the name of a file in its folder, `branch` 8 hex digits: what is saved next belongs to it.
    `generation` counts the times HEAD was switched, not the saves. `last_request` is the request that switched it.
    `problem` says what is wrong with the HEAD file, when this was worked out without it; `generation` is -1 then.
    """

    file: str
    branch: str
    generation: int
    last_request: str | None = None
    problem: str | None = None


def read_head_pointer(folder: Path) -> HeadPointer | None:
    """What the HEAD file says; None when HEAD was never switched.

    Raises:
        DamagedCheckpointError: it is not what was written.
        CheckpointError: it can't be read.
    """
    path = folder / HEAD_FILE
    found = read_json(path)
    if found is None:
        return None
    file, branch, generation = found.get("file"), found.get("branch"), found.get("generation")
    last_request = found.get("last_request")
    if (
        type(file) is not str
        or parse_file_name(file) is None
        or type(branch) is not str
        or _BRANCH.fullmatch(branch) is None
        or type(generation) is not int
        or not 0 < generation < _MAX_GENERATION
        or not (last_request is None or type(last_request) is str)
    ):
        raise DamagedCheckpointError(f"read {path}: it names no checkpoint, branch and generation")
    return HeadPointer(file, branch, generation, last_request)


def write_head_pointer(folder: Path, pointer: HeadPointer) -> None:
    """Switch HEAD; for who holds the session's lock. Raises as `replace_json`: HEAD is as it was then."""
    replace_json(
        folder / HEAD_FILE,
        {
            "format": 1,
            "file": pointer.file,
            "branch": pointer.branch,
            "generation": pointer.generation,
            "last_request": pointer.last_request,
        },
    )


def next_generation(seen: int) -> int:
    """The generation after that one. After a HEAD that could not be read, whose generation nobody knows, it is the
    time in seconds: greater than any count, so that no old request fits it.
    """
    return seen + 1 if seen >= 0 else int(time.time())


def is_branch(text: str) -> bool:
    """Whether it can name a branch."""
    return _BRANCH.fullmatch(text) is not None
