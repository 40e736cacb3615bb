"""A checkpoint with something of everything, the same each time; and one saved as bytes."""

from __future__ import annotations

import datetime as dt
import decimal
import pathlib
import re
import struct
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from fractions import Fraction
from hashlib import blake2b

import numpy as np

from tierdeck.checkpoint import (
    Checkpoint,
    CheckpointFile,
    InMemory,
    Limits,
    Operation,
    Origin,
    pack_checkpoint,
    seal,
)
from tierdeck.checkpoint.kinds.loss import Loss
from tierdeck.checkpoint.kinds.records import Inert, Record
from tierdeck.checkpoint.limits import MB

TIGHT = Limits(file_bytes=4 * MB, section_bytes=MB, raw_bytes=4 * MB, table_bytes=MB, memory_bytes=16 * MB)


def sample(**changes: object) -> Checkpoint:
    """The checkpoint; `changes` replace its fields."""
    fields: dict[str, object] = {
        "session_id": "agent/../ses:1\ud800",
        "checkpoint_id": "00112233445566ff",
        "created_at_ns": 1_700_000_000_123_456_789,
        "turn": 5,
        "depth": 1,
        "repl_state": variables(),
        "working_memory": {"goal": "find it", "seen": [1, 2]},
        "pending_operations": (
            Operation("op-1", "model", "done", 5, False, {"prompt": "p"}, "answer"),
            Operation("op-2", "tool", "running", 5, True, ["send", {"to": "x"}]),
        ),
        "trajectory_events": [{"turn": 1, "event": "cell"}, {"turn": 2, "event": "call"}],
        "messages": [{"role": "user", "content": "Grüße"}, {"role": "assistant", "content": "x" * 2000}],
        "cells": ["import re", "x = 1"],
        "cost_so_far": 0.25,
        "tokens": 1234,
        "reason": "manual",
        "label": "before the merge",
        "parent": "ffeeddccbbaa9988",
        "branch": "deadbeef",
        "origin": Origin("older session", "0123456789abcdef"),
        "writer": {"tierdeck": "0.1.0"},
        "losses": (Loss("sock", "sock", "socket.socket", "socket.socket is no type that can be saved"),),
    }
    return Checkpoint(**(fields | changes))  # type: ignore[arg-type]  # the fields' own names


def variables() -> dict[str, object]:
    """A value of every type, with aliases and a cycle."""
    context = "All work and no play. " * 1000
    cycle: list[object] = [1]
    cycle.append({"me": cycle})
    record = Record("dataclass", "app.Point", {"x": 1})
    return {
        "context": context,
        "context_0": context,
        "chunks": [context, "b", context[:30]],
        "cycle": cycle,
        "plain": [
            None,
            True,
            False,
            0,
            -1,
            2**63,
            2**64 - 1,
            -(2**63),
            2**70,
            1.5,
            float("nan"),
            -0.0,
            "",
            "\0é\udc80",
            b"\xff",
        ],
        "containers": [
            (),
            (1, (2,)),
            {1: "a", (1, 2): {}},
            {(1, 2), (3, 4)},
            frozenset({"a"}),
            deque([1], 3),
            deque([2]),
        ],
        "dicts": [defaultdict(list, a=[1]), Counter("aab"), OrderedDict(b=1, a=2), defaultdict(None)],
        "numbers": [1 + 2j, decimal.Decimal("-1.50"), Fraction(1, 3), range(0, 10, 2), slice(1, None, 2)],
        "moments": [
            dt.date(2024, 2, 29),
            dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=dt.timezone(dt.timedelta(hours=2), "CEST")),
            dt.time(1, 2, 3, 4),
            dt.timedelta(-1, 5, 7),
            dt.UTC,
        ],
        "odds": [
            uuid.UUID(int=5),
            pathlib.PurePosixPath("/a"),
            pathlib.PureWindowsPath("c:/b"),
            re.compile("a+", re.IGNORECASE),
        ],
        "bytes": bytearray(b"abc"),
        "array": np.arange(12, dtype="<f4").reshape(3, 4),
        "table": np.array([(1, b"x")], [("a", "<i4"), ("b", "S2")]),
        "scalars": [np.float64(0.5), np.datetime64("2020-01-01", "D"), np.str_("é")],
        "records": [record, {"again": record}, Inert("module", "json"), Inert("function", "app.f", "def f(): ...")],
    }


def file_bytes(checkpoint: Checkpoint | None = None, *, key: bytes | None = None) -> bytes:
    """The checkpoint as a file's bytes."""
    return b"".join(seal(pack_checkpoint(checkpoint or sample()), key=key).pieces)


def opened(data: bytes, limits: Limits = TIGHT, key: bytes | None = None) -> CheckpointFile:
    """A file that is in memory."""
    return CheckpointFile(InMemory(data), "sample", limits=limits, key=key)


def forged(data: bytes, **fixed: int) -> bytes:
    """The file with another version, its digests made to fit."""
    made = bytearray(data)
    if "major" in fixed:
        struct.pack_into("<H", made, 8, fixed["major"])
    if "minor" in fixed:
        struct.pack_into("<H", made, 10, fixed["minor"])
    if "flags" in fixed:
        struct.pack_into("<I", made, 12, fixed["flags"])
    end = 48 + struct.unpack_from("<I", made, 16)[0]
    made[32:48] = blake2b(bytes(made[:32]) + bytes(made[48:end]), digest_size=16).digest()
    made[-32:] = blake2b(bytes(made[:-32]), digest_size=32).digest()
    return bytes(made)
