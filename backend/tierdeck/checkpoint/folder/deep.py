"""Decoding of a whole file in a child process with limits of its own: what happens there stays there."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any, cast

from tierdeck.checkpoint.file.load import load_checkpoint
from tierdeck.checkpoint.file.reading import CheckpointFile
from tierdeck.checkpoint.folder.listing import State
from tierdeck.checkpoint.limits import MB, Limits
from tierdeck.errors import CheckpointError, DamagedCheckpointError, NewerCheckpointError, StoppedError

TIMEOUT_S = 600.0
_LOOK_S = 0.05
_ROOM_BYTES = 256 * MB  # for the interpreter itself, beyond what it has when it begins to read
_MAX_WHY = 500
_START = """
import json, sys
asked = json.load(sys.stdin)
sys.path[:] = asked["path"]
from tierdeck.checkpoint.folder.deep import answer_in_child
answer_in_child(asked)
"""
# They say that a limit was met or somebody ended it, not that the file is bad.
_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU, signal.SIGINT, signal.SIGHUP}


def decode_in_child(
    fd: int,
    name: str,
    limits: Limits,
    key: bytes | None,
    should_stop: Callable[[], bool] | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
) -> tuple[State, str | None]:
    """Decode all of an open file and throw the values away.

    Returns:
        "ok"; "damaged" and why; "not verified" when memory, time or a limit did not suffice.

    Raises:
        StoppedError: it was asked to stop; the child is gone.
        OSError: no child can be started.
    """
    asked = {
        "path": [each or os.getcwd() for each in sys.path],
        "fd": fd,
        "name": name,
        "limits": asdict(limits),
        "key": None if key is None else key.hex(),
        "timeout_s": timeout_s,
    }
    with _child(fd) as child:
        try:
            answer = _answer_of(child, json.dumps(asked).encode(), should_stop, timeout_s)
        finally:
            child.kill()
    if answer is None:
        return "not verified", f"decoding it took longer than {timeout_s:g} s"
    return _judged(answer, child.returncode)


def answer_in_child(asked: dict[str, object]) -> None:
    """What the child does: limit itself, decode, write what it found to its standard output."""
    fd = cast("int", asked["fd"])
    limits = Limits(**cast("dict[str, Any]", asked["limits"]))
    key = None if asked["key"] is None else bytes.fromhex(str(asked["key"]))
    _limit_self(limits, cast("float", asked["timeout_s"]))
    state, why = _decoded(fd, str(asked["name"]), limits, key)
    sys.stdout.write(json.dumps([state, None if why is None else why[:_MAX_WHY]]))


class _Whole:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._fd, length, offset)

    def size(self) -> int:
        return os.fstat(self._fd).st_size


def _decoded(fd: int, name: str, limits: Limits, key: bytes | None) -> tuple[State, str | None]:
    try:
        load_checkpoint(CheckpointFile(_Whole(fd), name, limits=limits, key=key))
    except DamagedCheckpointError as e:
        return "damaged", e.message
    except NewerCheckpointError as e:
        return "newer", e.message
    except CheckpointError as e:
        return "not verified", e.message
    except MemoryError:
        return "not verified", f"read checkpoint {name}: decoding it takes more memory than the limits allow"
    return "ok", None


def _limit_self(limits: Limits, timeout_s: float) -> None:
    memory_bytes = limits.memory_bytes + limits.raw_bytes + 2 * limits.section_bytes + _ROOM_BYTES
    wanted = [
        (resource.RLIMIT_CPU, int(timeout_s) + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 16),
        (resource.RLIMIT_AS, _address_space_bytes() + memory_bytes),
    ]
    for what, limit in wanted:
        hard = resource.getrlimit(what)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        # Some systems refuse one of them (macOS that of memory); the reader's own limits hold everywhere.
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (limit, limit))


def _address_space_bytes() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _child(fd: int) -> subprocess.Popen[bytes]:
    """A Python of its own that has this file open, waiting to be told what to do."""
    return subprocess.Popen(  # noqa: S603 # this interpreter, and a text of ours
        [sys.executable, "-I", "-B", "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=(fd,),
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # each thread's stack would count against its memory
    )


def _answer_of(
    child: subprocess.Popen[bytes], asked: bytes, should_stop: Callable[[], bool] | None, timeout_s: float
) -> bytes | None:
    until = time.monotonic() + timeout_s
    given: bytes | None = asked
    while True:
        try:
            return child.communicate(given, timeout=_LOOK_S)[0]
        except subprocess.TimeoutExpired:
            given = None
        if should_stop is not None and should_stop():
            raise StoppedError("verify checkpoint: it was asked to stop")
        if time.monotonic() > until:
            return None


def _judged(answer: bytes, status: int) -> tuple[State, str | None]:
    if status == 0:
        state, why = json.loads(answer)
        return state, why
    if -status in _OUTSIDE:
        return "not verified", f"the process that decoded it was ended from outside (signal {-status})"
    if status < 0:
        return "damaged", f"decoding it ended the process that did it (signal {-status})"
    return "not verified", f"the process that was to decode it failed (status {status})"
