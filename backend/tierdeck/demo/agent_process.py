"""The live agent in a process of its own, which never outlives the one that started it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# A turn is over much sooner; then it is a hang, and the store is about to go.
_MAX_S = 5.0


def log_beside(store: Path) -> Path:
    """Where the agent of a demo store says what it does."""
    return store.with_name(f"{store.stem}-agent.log")


@contextmanager
def agent_process(store: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the live agent on a demo store while the block runs; what it says goes to `log_beside(store)`.

    It ends at the end of its standard input: here, when the block is left, and also when this process is killed. At
    the end of the block it is over, by force if it does not heed that.
    """
    command = [sys.executable, "-P", "-m", "tierdeck.demo.live_agent", str(store), "--ends-with-stdin", *options]
    with log_beside(store).open("ab") as log:
        # In a session of its own keys pressed in this terminal don't reach it.
        process = subprocess.Popen(  # noqa: S603 # this interpreter, and a module of ours
            command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        assert process.stdin is not None  # noqa: S101 # it was asked for
        process.stdin.close()
        try:
            process.wait(_MAX_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
