"""The command as a process of its own: with pipes, or with a terminal to ask at."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_MAX_S = 60.0


@dataclass(frozen=True)
class Ended:
    """How a process in a terminal ended, and all that it showed there."""

    exit_code: int
    shown: str


def command_line(db: Path, *args: str) -> list[str]:
    return [sys.executable, "-m", "tierdeck_tui", "--db", str(db), *args]


def piped(db: Path, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run with pipes on all sides."""
    return subprocess.run(command_line(db, *args), input=stdin, capture_output=True, check=False, timeout=_MAX_S)


def in_terminal(
    db: Path, *args: str, answers: Sequence[tuple[str, str]] = (), env: dict[str, str] | None = None
) -> Ended:
    """Run with a terminal on all three streams; each answer is typed when its question has shown.

    Args:
        answers: (what shows before it is typed, what is typed), in order.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command_line(db, *args), stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **(env or {})},
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, waiting, end = b"", list(answers), time.monotonic() + _MAX_S
    try:
        while time.monotonic() < end:
            if waiting and waiting[0][0].encode() in shown:
                os.write(ours, waiting.pop(0)[1].encode())
            if not select.select([ours], [], [], 0.05)[0]:
                continue
            try:
                part = os.read(ours, 65_536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not part:
                break
            shown += part
        else:
            raise AssertionError(
                f"still open after {_MAX_S} s, waiting for {waiting[:1]}, and shows {shown[-3_000:]!r}"
            )
        return Ended(process.wait(timeout=_MAX_S), shown.decode("utf-8", "replace"))
    finally:
        process.kill()
        process.wait()
        os.close(ours)
