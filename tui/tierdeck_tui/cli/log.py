"""Errors that nobody foresaw, written to the program's private log."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path


def log_error(text: str) -> Path | None:
    """Append a traceback to the log (0600, its folder 0700; begun anew beyond its size).

    Returns:
        The log's path; None when it can't be written, which must not hide the error itself.
    """
    from tierdeck_tui.log_file import MAX_BYTES, log_path  # the console's; imported when something went wrong only

    path = log_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > MAX_BYTES:
            path.replace(path.with_name(f"{path.name}.1"))
        handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_APPEND, 0o600)
        os.fchmod(handle, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC pid {os.getpid()}\n{text}\n")
    except OSError:
        return None
    return path
