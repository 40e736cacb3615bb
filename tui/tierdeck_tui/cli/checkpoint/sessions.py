"""The session that an argument names."""

from __future__ import annotations

from pathlib import Path

from tierdeck.checkpoint.folder import SessionFolder, list_sessions, open_session_folder
from tierdeck.errors import NotFoundError


def session_folder(root: Path, text: str, *, key: bytes | None = None) -> SessionFolder:
    """The folder of the session with exactly this id, or, for an id that can't be typed, with this folder's name.

    Never one whose id only begins so: `proj` must not show what belongs to `proj_b`.

    Args:
        key: the operator's, for what is saved and verified there.

    Raises:
        NotFoundError: no session has it.
    """
    try:
        return open_session_folder(root, text, key=key)
    except NotFoundError as e:
        for info in list_sessions(root):
            if info.path.name == text and info.session_id != text:
                return open_session_folder(root, info.session_id, key=key)
        raise NotFoundError(
            f"find session {text[:200]!r}: it has no checkpoints in {root}",
            hint="`tierdeck checkpoint list` lists the sessions that have some",
        ) from e
