"""Where checkpoints lie."""

from __future__ import annotations

import os
from pathlib import Path

from tierdeck.errors import InvalidValueError

ROOT_VARIABLE = "RLM_CHECKPOINT_DIR"


def checkpoints_root(given: Path | str | None = None) -> Path:
    """The folder of all sessions' folders; it need not be there yet.

    Args:
        given: what the caller was told (`--checkpoints`). None: `RLM_CHECKPOINT_DIR`, else the platform's place for
            a program's state.

    Raises:
        InvalidValueError: it names no path.

    Spec: SPEC-09.22
    """
    named = given if given is not None else os.environ.get(ROOT_VARIABLE)
    if not named:
        if given is not None:
            raise InvalidValueError("find checkpoints: an empty path was given")
        from platformdirs import user_state_path

        return user_state_path("tierdeck", appauthor=False) / "checkpoints"
    try:
        path = Path(named).expanduser()
    except RuntimeError as e:
        raise InvalidValueError(f"find checkpoints: {str(named)[:200]!r} names no user that there is") from e
    if "\0" in str(path):
        raise InvalidValueError(f"find checkpoints: {str(named)[:200]!r} is no path")
    return path
