"""A checkpoint by what a person types: a path, `session:sequence`, or how its id begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tierdeck.checkpoint.folder.listing import Listed, Owner, file_names, list_one
from tierdeck.checkpoint.folder.names import SUFFIX, parse_file_name
from tierdeck.checkpoint.folder.session_folder import SessionFolder, open_session_folder
from tierdeck.checkpoint.folder.sessions import session_folders, session_id_of
from tierdeck.checkpoint.limits import CONSOLE_LIMITS, Limits
from tierdeck.errors import AmbiguousIdError, InvalidValueError, NotFoundError

_ID = re.compile(r"[0-9a-f]{4,16}")
_SEQUENCE = re.compile(r"(.+):0*([0-9]{1,12})", re.DOTALL)
_TAG_CHARS = 8
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class FoundCheckpoint:
    """A checkpoint and its session's folder; None for a file that lies elsewhere."""

    listed: Listed
    folder: SessionFolder | None


class _Reader(NamedTuple):
    """What opens a session's folder: a reader's limits and key."""

    limits: Limits
    key: bytes | None


def find_checkpoint(
    root: Path, text: str, *, limits: Limits = CONSOLE_LIMITS, key: bytes | None = None
) -> FoundCheckpoint:
    """The one checkpoint that the text names.

    Args:
        text: a path or the name of a file, both with `.rlmckpt`; a session's id, a colon and a sequence; or the
            first 4 or more hex digits of a checkpoint's id.
        key: the operator's, for the session's folder; finding needs none.

    Raises:
        NotFoundError: none is named so.
        AmbiguousIdError: several are; `matches` holds their ids, at most 20.
        CheckpointError: a folder can't be read.
    """
    reader = _Reader(limits, key)
    found = _by_path(root, text, reader) if text.endswith(SUFFIX) else _by_sequence(root, text, reader)
    if found is not None:
        return found
    matches = list(_by_id(root, text, reader)) if _ID.fullmatch(text) else []
    if len(matches) > 1:
        ids = [each.listed.summary.checkpoint_id for each in matches if each.listed.summary is not None]
        raise AmbiguousIdError(
            f"find checkpoint {text}: {len(ids)} ids begin so", matches=ids[:_SHOWN], hint="give more of it"
        )
    if not matches:
        raise NotFoundError(
            f"find checkpoint {text[:200]!r}: there is none in {root}",
            hint="give a path, session:sequence, or 4 or more digits of its id",
        )
    return matches[0]


def _by_path(root: Path, text: str, reader: _Reader) -> FoundCheckpoint | None:
    if "\0" in text:
        return None
    path = Path(text)
    listed = list_one(path, Owner(None, reader.limits))
    if listed is not None:
        session_id = session_id_of(path.parent, reader.limits)
        if session_id is None or parse_file_name(path.name) is None:
            return FoundCheckpoint(listed, None)
        return _in_folder(path.parent.parent, session_id, path.name, reader)
    if parse_file_name(text) is not None:
        for folder in session_folders(root):
            session_id = session_id_of(folder, reader.limits)
            if session_id is not None and (found := _in_folder(root, session_id, text, reader)) is not None:
                return found
    return None


def _by_sequence(root: Path, text: str, reader: _Reader) -> FoundCheckpoint | None:
    named = _SEQUENCE.fullmatch(text)
    if named is None:
        return None
    try:
        folder = open_session_folder(root, named[1], limits=reader.limits, key=reader.key)
    except (NotFoundError, InvalidValueError):
        return None
    for name, file in file_names(folder.path):
        if name.sequence == int(named[2]):
            return _in_folder(root, folder.session_id, file, reader)
    return None


def _by_id(root: Path, text: str, reader: _Reader) -> Iterator[FoundCheckpoint]:
    for path in session_folders(root):
        files = [file for name, file in file_names(path) if name.tag.startswith(text[:_TAG_CHARS])]
        session_id = session_id_of(path, reader.limits) if files else None
        for file in files if session_id is not None else []:
            found = _in_folder(root, session_id or "", file, reader)
            if found and found.listed.summary and found.listed.summary.checkpoint_id.startswith(text):
                yield found


def _in_folder(root: Path, session_id: str, file: str, reader: _Reader) -> FoundCheckpoint | None:
    folder = open_session_folder(root, session_id, limits=reader.limits, key=reader.key)
    listed = folder.listed_one(file)
    return None if listed is None else FoundCheckpoint(listed, folder)
