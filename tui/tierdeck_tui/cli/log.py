"""The log of errors that nobody foresaw: in the platform's state folder, for its owner's eyes only."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

MAX_LOG_BYTES = 1_000_000


def log_path() -> Path:
    """Where the log is written."""
    from platformdirs import user_state_dir

    return Path(user_state_dir("tierdeck", appauthor=False)) / "tierdeck.log"


def log_error(text: str) -> Path | None:
    """Append a traceback (file 0600, folder 0700; begun anew beyond 1 MB).

    Returns:
        The log's path; None when it can't be written, which must not hide the error itself.
    """
    path = log_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_full = path.exists() and path.stat().st_size > MAX_LOG_BYTES
        flags = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | (os.O_TRUNC if is_full else os.O_APPEND)
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC pid {os.getpid()}\n{text}\n")
    except OSError:
        return None
    return path
