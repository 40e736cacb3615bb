"""The console's log: a private file, for the terminal belongs to the screen.

While the console runs everything that would be printed (logging, warnings, errors of threads and destructors) goes
there. It may hold pieces of memories, so it is readable by its owner only.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_state_path

from tierdeck_tui.view.sanitise import visible

MAX_BYTES = 1_000_000
NAME = "tierdeck.log"  # the command line writes its unforeseen errors there too

log = logging.getLogger("tierdeck.console")


def log_path() -> Path:
    """Where the log is: the platform's folder for state."""
    return user_state_path("tierdeck", appauthor=False) / NAME


@contextmanager
def logging_to_file() -> Iterator[Path]:
    """While inside, all that would be printed goes to the log; gives its path.

    A log above `MAX_BYTES` is first moved to `tierdeck.log.1`. Where no file can be written nothing is logged, and
    nothing is printed either.
    """
    path = log_path()
    handler = _handler(path)
    root = logging.getLogger()
    root.addHandler(handler)
    logging.captureWarnings(True)
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    threading.excepthook = _on_thread_error
    sys.unraisablehook = _on_unraisable
    try:
        yield path
    finally:
        sys.excepthook, threading.excepthook, sys.unraisablehook = before
        logging.captureWarnings(False)
        root.removeHandler(handler)
        handler.close()


def _handler(path: Path) -> logging.Handler:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > MAX_BYTES:
            path.replace(path.with_name(f"{NAME}.1"))
        fd = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        os.fchmod(fd, 0o600)
        stream = os.fdopen(fd, "a", encoding="utf-8", errors="backslashreplace")
    except OSError:
        return logging.NullHandler()
    handler = _ClosingHandler(stream)
    handler.setFormatter(_SafeFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler


class _SafeFormatter(logging.Formatter):
    """Makes what an error quotes harmless: a log is read in a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


class _ClosingHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """A stream handler that owns its stream."""

    def close(self) -> None:
        super().close()
        self.stream.close()


def _on_thread_error(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        log.error("thread %s", args.thread and args.thread.name, exc_info=args.exc_value)


def _on_unraisable(args: sys.UnraisableHookArgs) -> None:
    log.error("%s", args.err_msg or "ignored", exc_info=args.exc_value)
