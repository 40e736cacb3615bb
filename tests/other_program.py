"""Another program beside ours: a real child process that uses Python's own sqlite3 and does what it is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Its connection is `conn` (autocommit; BEGIN is its own affair); each line from us is executed, "done" comes back.
_LOOP = """
import json, os, sqlite3, sys, time
conn = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
for line in sys.stdin:
    exec(json.loads(line))
    print("done", flush=True)
"""


class OtherProgram:
    """A child process with a connection `conn` to one database."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LOOP, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def do(self, code: str) -> None:
        """Run Python code there and wait until it is done."""
        self.begin(code)
        self.wait()

    def begin(self, code: str) -> None:
        """Run Python code there; `wait` waits for it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()

    def wait(self) -> None:
        """Wait until what was begun is done."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "done\n", "the other program failed"

    def kill(self) -> None:
        """End it as a crash does: SIGKILL, nothing tidied."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Let it end by itself, or kill it when it does not."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process.stdout.close()


@contextmanager
def other_program(path: Path) -> Iterator[OtherProgram]:
    """A child process with a connection to the database, ended when the block ends."""
    program = OtherProgram(path)
    try:
        yield program
    finally:
        program.close()
