"""A path as it was typed, made one that the system takes; whether something stands there is another question."""

from __future__ import annotations

import os
from pathlib import Path

from tierdeck.errors import InvalidValueError


def path_of(text: str) -> Path:
    """The path that a text names, a leading `~` or `~user` replaced.

    Raises:
        InvalidValueError: no file can have that name.
    """
    shown = text if len(text) <= 200 else f"{text[:200]}…"
    try:
        path = Path(text).expanduser()
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return path
    except RuntimeError as e:
        raise InvalidValueError(f"find {shown}: there is no such user", hint="put ./ before a name with ~") from e
    except (OSError, ValueError) as e:  # too long, a loop of links, a NUL
        why = e.strerror if isinstance(e, OSError) else str(e)
        raise InvalidValueError(f"find {shown}: {why}") from e
    return path
