"""What a session's folder and its files are called. Pure.

A session's id is text from outside: it may hold slashes, dots, NULs, or be `CON`. Only a slug of it, for people to
recognise, and a hash of all of it get into a name, so no id leaves the root and no two ids meet in one folder.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import NamedTuple

from tierdeck.checkpoint.file.summary import MAX_SESSION_BYTES
from tierdeck.errors import InvalidValueError

SUFFIX = ".rlmckpt"
# What else lies in a session's folder.
LOCK_FILE = "lock"
SESSION_FILE = "session.json"
TRASH_FOLDER = "trash"
MAX_SEQUENCE = 10**12 - 1
_SLUG_CHARS = 40
_HASH_BYTES = 16  # nobody can choose two ids that share a folder
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_FILE = re.compile(r"([0-9]{8,12})-([0-9]{1,20})-([0-9a-f]{8})\.rlmckpt")
_TRASHED = re.compile(r"([0-9]{1,16})-([am])-(.+)", re.DOTALL)
_FOLDER = re.compile(r"[a-z0-9][a-z0-9-]{0,39}-[0-9a-f]{32}")


class FileName(NamedTuple):
    """The parts of a checkpoint file's name; `tag` is how its id begins."""

    sequence: int
    turn: int
    tag: str

    def __str__(self) -> str:
        return f"{self.sequence:08d}-{self.turn}-{self.tag}{SUFFIX}"


def parse_file_name(name: str) -> FileName | None:
    """The parts of a file's name; None when it is none of a checkpoint in a session's folder."""
    found = _FILE.fullmatch(name)
    return None if found is None else FileName(int(found[1]), int(found[2]), found[3])


class TrashName(NamedTuple):
    """The parts of a name in the trash: since when it is there, whether retention did that, its name before."""

    trashed_ms: int
    is_automatic: bool
    file: str

    def __str__(self) -> str:
        return f"{self.trashed_ms}-{'a' if self.is_automatic else 'm'}-{self.file}"


def parse_trash_name(name: str) -> tuple[TrashName, FileName] | None:
    """The parts of a name in the trash; None when no checkpoint is called so there."""
    found = _TRASHED.fullmatch(name)
    inner = parse_file_name(found[3]) if found is not None else None
    if found is None or inner is None:
        return None
    return TrashName(int(found[1]), found[2] == "a", found[3]), inner


def session_folder_name(session_id: str) -> str:
    """The name of a session's folder.

    Raises:
        InvalidValueError: the id is no text, empty, or longer than 1,024 bytes.
    """
    if not isinstance(session_id, str):
        raise InvalidValueError(
            f"name session {session_id!r:.40}: an id is text, this is {type(session_id).__name__}"
        )
    data = session_id.encode("utf-8", "surrogatepass")
    if not 0 < len(data) <= MAX_SESSION_BYTES:
        raise InvalidValueError(
            f"name session {session_id[:40]!r}: an id has 1 to {MAX_SESSION_BYTES:,} bytes, this has {len(data):,}"
        )
    slug = _NOT_SLUG.sub("-", session_id.lower()).strip("-")[:_SLUG_CHARS].strip("-") or "session"
    return f"{slug}-{blake2b(data, digest_size=_HASH_BYTES).hexdigest()}"


def is_session_folder_name(name: str) -> bool:
    """Whether a folder under the root can be a session's."""
    return _FOLDER.fullmatch(name) is not None
