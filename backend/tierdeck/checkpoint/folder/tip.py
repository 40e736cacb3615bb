"""The checkpoint a session stands at: HEAD, and what was saved on its branch since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tierdeck.checkpoint.folder.head_pointer import HeadPointer, read_head_pointer
from tierdeck.checkpoint.folder.listing import Listed, Owner, file_names, list_one
from tierdeck.checkpoint.folder.names import parse_file_name


def current_head(folder: Path, owner: Owner) -> HeadPointer | None:
    """HEAD, its file the newest one of its branch that can be read; that it verifies is not looked at.

    A session whose HEAD was never switched stands at its newest checkpoint, in generation 0; None when it has none.
    Saves do not write HEAD, so no crash can leave it behind them.

    Raises:
        DamagedCheckpointError: the HEAD file is not what was written.
        CheckpointError: the folder can't be read.
    """
    pointer = read_head_pointer(folder)
    names = file_names(folder)
    files = [file for _, file in names]
    start = 0
    if pointer is not None:
        if pointer.file not in files:
            pointer = replace(pointer, problem=f"HEAD names {pointer.file}, which is not there")
        start = sum(name.sequence <= _sequence(pointer) for name, _ in names)
    for file in reversed(files[start:]):
        listed = list_one(folder / file, owner)
        if listed is None or listed.summary is None:
            continue
        if pointer is None:
            return HeadPointer(file, listed.summary.branch, 0)
        if listed.summary.branch == pointer.branch:
            return replace(pointer, file=file, problem=None)
    return pointer


def tip_of(listed: list[Listed], pointer: HeadPointer | None) -> str | None:
    """The same from a listing: the name of the file, None when there is none."""
    for each in reversed(listed):
        if pointer is not None and each.sequence <= _sequence(pointer):
            break
        if each.summary is not None and (pointer is None or each.summary.branch == pointer.branch):
            return each.file
    return None if pointer is None else pointer.file


def _sequence(pointer: HeadPointer) -> int:
    name = parse_file_name(pointer.file)
    return 0 if name is None else name.sequence
