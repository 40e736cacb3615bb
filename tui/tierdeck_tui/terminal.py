"""The terminal that the console takes over, and how it is given back.

- Without a terminal Textual paints and hangs, so it is refused first.
- SIGTERM and SIGHUP would leave the alternate screen and the mouse mode on. They end the app in its own way; when
  that does not come about (its loop hangs, or a write to a terminal that is gone blocks) a watchdog gives the
  terminal back and ends the process.
- Nothing but Textual may print while it draws, and it draws on stderr.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from tierdeck.errors import InvalidValueError

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
WATCHDOG_S = 2.0
# Mouse, focus reports, in-band resize, bracketed paste, keyboard protocol, line wrap, alternate screen, cursor.
_GIVE_BACK = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1004l\x1b[?2048l\x1b[?2004l"
    "\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"
)
_DUMB = frozenset({"", "dumb", "unknown"})
_VERBS = "without one use a command: `tierdeck search WORDS`, `tierdeck show ID`, `tierdeck --help`"


def require_terminal() -> None:
    """Refuse to go on where there is no terminal to draw on.

    Raises:
        InvalidValueError: names what is not a terminal and points at the commands.
    """
    for name, stream in (("input", sys.__stdin__), ("output", sys.__stdout__), ("error", sys.__stderr__)):
        if stream is None or stream.closed or not stream.isatty():
            raise InvalidValueError(f"open the console: standard {name} is not a terminal", hint=_VERBS)
    term = os.environ.get("TERM", "")
    if term in _DUMB:
        raise InvalidValueError(f"open the console: TERM={term!r} can't be drawn on", hint=_VERBS)


def follow_real_size() -> None:
    """Forget COLUMNS and LINES: where a shell exported them they would win over the real size, resized or not."""
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)


@contextmanager
def ending_on_signals(end: Callable[[int], None]) -> Iterator[None]:
    """While inside, a signal that asks to end calls `end(128 + signal)`, once; a second one ends at once.

    `end` runs in the main thread between two bytecodes, so it may only set flags and wake the event loop. A signal
    that was ignored (nohup) stays ignored. What was there before comes back afterwards.
    """
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    attributes = _attributes()
    watchdogs: list[threading.Timer] = []

    def on_signal(number: int, _: FrameType | None) -> None:
        if watchdogs:
            _end_now(number, attributes)
        watchdog = threading.Timer(WATCHDOG_S, _end_now, (number, attributes))
        watchdog.daemon = True
        watchdogs.append(watchdog)
        watchdog.start()
        end(128 + number)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for watchdog in watchdogs:
            watchdog.cancel()


def _end_now(number: int, attributes: list[object] | None) -> None:
    fd = 2
    with contextlib.suppress(OSError):
        os.set_blocking(fd, False)  # a terminal that is gone or stopped must not hold us
        os.write(fd, _GIVE_BACK.encode())
    with contextlib.suppress(OSError):
        os.set_blocking(fd, True)
    if attributes is not None:
        with contextlib.suppress(termios.error, OSError):
            termios.tcsetattr(0, termios.TCSANOW, attributes)  # type: ignore[arg-type]
    os._exit(128 + number)


def _attributes() -> list[object] | None:
    try:
        return list(termios.tcgetattr(0))
    except termios.error:
        return None
