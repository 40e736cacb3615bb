"""Copying out of the console: by the terminal's own sequence, and into a file for terminals that do not take it."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_state_path

NAME = "copied.txt"


def write_copied(text: str) -> Path | None:
    """Write what was copied into a private file (0600), replacing the last; None where that can't be written.

    OSC 52 needs the terminal's consent and tells nobody whether it was given, so the file is always there too.
    """
    path = user_state_path("tierdeck", appauthor=False) / NAME
    fresh = path.with_name(f"{NAME}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        fresh.replace(path)
    except OSError:
        return None
    return path
