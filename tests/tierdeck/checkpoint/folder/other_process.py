"""Another process with the same session's folder open: it does what it is told, and can be killed at any moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# `folder` is the session's; each line is executed, `result` comes back as JSON.
_LOOP = """
import json, os, sys, time
from pathlib import Path
from tierdeck.checkpoint.folder import *
from tierdeck.errors import TierdeckError
from tests.tierdeck.checkpoint.folder.making import *
folder = opened(Path(sys.argv[1]), sys.argv[2])
for line in sys.stdin:
    result = None
    exec(json.loads(line))
    print(json.dumps(result), flush=True)
"""
REPOSITORY = Path(__file__).parents[4]


class OtherProcess:
    """The child; `do` waits for what it has done, `begin` does not."""

    def __init__(self, root: Path, session_id: str) -> None:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in (*sys.path, str(REPOSITORY)) if each)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LOOP, str(root), session_id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )
        self.pid = self._process.pid

    def do(self, code: str) -> object:
        """Run Python code there and give what it left in `result`."""
        self.begin(code)
        return self.result()

    def begin(self, code: str) -> None:
        """Run Python code there."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()

    def result(self) -> object:
        """What the code that was begun left in `result`."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the other process failed"
        return json.loads(line)

    def kill(self) -> None:
        """End it as a crash does."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it, whatever it is at."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


@contextmanager
def other_process(root: Path, session_id: str) -> Iterator[OtherProcess]:
    """One for the length of a test."""
    process = OtherProcess(root, session_id)
    try:
        yield process
    finally:
        process.close()
