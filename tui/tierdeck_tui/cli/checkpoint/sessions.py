"""The session that an argument names."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from shlex import quote

from tierdeck.checkpoint.folder import SessionFolder, find_checkpoint, list_sessions, open_session_folder
from tierdeck.errors import InvalidValueError, NotFoundError
from tierdeck_tui.cli.checkpoint.place import listing_command


def session_folder(root: Path, text: str, *, key: bytes | None = None) -> SessionFolder:
    """The folder of the session with exactly this id, or, for an id that can't be typed, with this folder's name.

    Never one whose id only begins so: `proj` must not show what belongs to `proj_b`.

    Args:
        key: the operator's, for what is saved and verified there.

    Raises:
        NotFoundError: no session has it; the hint says what was probably meant.
    """
    found = _session(root, text, key)
    if found is None:
        raise NotFoundError(
            f"find session {text[:200]!r}: it has no checkpoints in {root}",
            hint=_hint(root, text) or f"{listing_command(root)} lists the sessions that have some",
        )
    return found


def known_session(root: Path, text: str) -> SessionFolder | None:
    """The same; None where no session has it, or none can."""
    try:
        return _session(root, text, None)
    except InvalidValueError:
        return None


def near_session(root: Path, text: str) -> str | None:
    """The id of the session that is written most like the text; None where none is like it."""
    near = get_close_matches(text, [info.session_id for info in list_sessions(root)], 1, cutoff=0.7)
    return near[0] if near else None


def _session(root: Path, text: str, key: bytes | None) -> SessionFolder | None:
    try:
        return open_session_folder(root, text, key=key)
    except NotFoundError:
        for info in list_sessions(root):
            if info.path.name == text and info.session_id != text:
                return open_session_folder(root, info.session_id, key=key)
    return None


def _hint(root: Path, text: str) -> str | None:
    try:
        found = find_checkpoint(root, text)
    except NotFoundError:
        near = near_session(root, text)
        return None if near is None else f"did you mean {near}? {listing_command(root, near)} lists its checkpoints"
    summary = found.listed.summary
    whose = "" if summary is None else f", of session {quote(summary.session_id)}"
    return f"{text} is a checkpoint{whose}; a SESSION is wanted here"
