"""The checkpoint that an argument names; of one that names none, what was probably meant."""

from __future__ import annotations

import re
from pathlib import Path
from shlex import quote

from tierdeck.checkpoint.folder import FoundCheckpoint, SessionFolder, find_checkpoint
from tierdeck.errors import AmbiguousIdError, NotFoundError
from tierdeck_tui.cli.checkpoint.place import listing_command
from tierdeck_tui.cli.checkpoint.sessions import known_session, near_session

_SEQUENCE = re.compile(r"(.+):[0-9]+", re.DOTALL)
_SUFFIX = ".rlmckpt"


def named_checkpoint(root: Path, text: str, *, key: bytes | None = None) -> FoundCheckpoint:
    """The one checkpoint that the text names, as `find_checkpoint`; an error's hint fits what was typed."""
    try:
        return find_checkpoint(root, text, key=key)
    except AmbiguousIdError:
        raise
    except NotFoundError as e:
        raise NotFoundError(e.message, hint=_hint(root, text) or e.hint) from e


def _hint(root: Path, text: str) -> str | None:
    session = known_session(root, text)
    if session is not None:
        return _of_session(root, session, text)
    named = _SEQUENCE.fullmatch(text)
    session = None if named is None else known_session(root, named[1])
    if named is not None and session is not None:
        return f"the session has none of that number: {listing_command(root, named[1])} lists its own"
    near = near_session(root, text if named is None else named[1])
    if near is not None:
        return f"did you mean the session {near}? {listing_command(root, near)} lists its checkpoints"
    if "\0" not in text and Path(text).is_file() and not text.endswith(_SUFFIX):
        return f"a checkpoint's file is named with {_SUFFIX} at its end; `tierdeck checkpoint import` takes others"
    return None


def _of_session(root: Path, session: SessionFolder, text: str) -> str:
    listed = session.listed()
    if not listed:
        return f"{text} is a session, and it has no checkpoint"
    newest = quote(f"{session.session_id}:{listed[-1].sequence}")
    lists = f"{listing_command(root, text)} lists its checkpoints"
    return f"{text} is a session; the newest of its checkpoints is {newest}: {lists}"
