"""What verification found earlier, kept beside the files. Whatever is odd in it is verified again."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from tierdeck.checkpoint.folder.disk import disk_errors, read_json, replace_json
from tierdeck.checkpoint.folder.listing import Verified
from tierdeck.checkpoint.folder.locks import locked
from tierdeck.checkpoint.folder.names import LOCK_FILE, is_session_folder_name, parse_file_name
from tierdeck.errors import CheckpointError

VERIFIED_FILE = "verified.json"
_WAIT_S = 1.0
_KINDS: tuple[tuple[type, ...], ...] = ((int,), (int,), (int,), (int,), (str,), (str, type(None)), (bool,))


def read_verified(folder: Path) -> dict[str, Verified]:
    """By file name. A memory that is damaged, or may not be read, is none."""
    try:
        found = read_json(folder / VERIFIED_FILE) or {}
    except CheckpointError:
        return {}
    return {file: known for file, row in found.items() if (known := _known(row)) is not None}


def remember(path: Path, known: Verified) -> None:
    """Keep what was found of a checkpoint in a session's folder, and drop what is known of files that are gone.

    A folder that can't be written, or whose lock somebody holds, keeps nothing: the file is verified again then.
    """
    folder = path.parent
    if not is_session_folder_name(folder.name) or parse_file_name(path.name) is None:
        return  # nothing is left beside other people's files
    with suppress(CheckpointError), locked(folder / LOCK_FILE, wait_s=_WAIT_S), disk_errors(f"list {folder}"):
        there = set(os.listdir(folder))
        rows = {file: row for file, row in read_verified(folder).items() if file in there} | {path.name: known}
        replace_json(folder / VERIFIED_FILE, {file: list(row) for file, row in rows.items()}, is_durable=False)


def _known(row: Any) -> Verified | None:
    if type(row) is not list or len(row) != len(_KINDS):
        return None
    if any(type(value) not in kinds for value, kinds in zip(row, _KINDS, strict=True)):
        return None
    known = Verified(*row)
    return known if known.state in ("ok", "damaged") else None
