"""Our format and those it is measured against.

None of them is a dependency of the project: they are installed, the newest `dill` and `langgraph-checkpoint`, into
an environment of the benchmark's own (`other_environment`).
"""

from __future__ import annotations

import gzip
import importlib
import json
import logging
import pickle
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import zstandard

from tests.bench.checkpoint_states import State, checkpoint_of
from tierdeck.checkpoint import AGENT_LIMITS, CheckpointFile, InMemory, load_checkpoint, pack, seal, take_snapshot

OTHERS = ("dill", "langgraph-checkpoint")


@dataclass(frozen=True)
class Format:
    """`pack` has to see the agent's values and makes it wait; `finish` makes the bytes of it, in pieces.

    One that `is_slow` takes part in every third round only.
    """

    name: str
    pack: Callable[[State], Any]
    finish: Callable[[Any], Sequence[bytes]]
    load: Callable[[bytes], object]
    is_slow: bool = False


def formats() -> list[Format]:
    """Ours first, then what it is compared with most."""
    dill: Any = importlib.import_module("dill")
    serializer = langgraph_serializer()
    return [
        Format("ours", _look_ours, lambda snapshot: seal(pack(snapshot)).pieces, _load_ours),
        Format(
            "pickle 5 + zstd 3",
            lambda state: pickle.dumps(state, 5),
            _compressed,
            lambda data: pickle.loads(_decompressed(data)),
        ),
        Format(
            "dill + zstd 3",
            lambda state: dill.dumps(state, 5),
            _compressed,
            lambda data: dill.loads(_decompressed(data)),
        ),
        Format(
            "langgraph",
            serializer.dumps_typed,
            lambda typed: [typed[1]],
            lambda data: serializer.loads_typed(("msgpack", data)),
        ),
        Format(
            "langgraph + zstd 3",
            serializer.dumps_typed,
            lambda typed: _compressed(typed[1]),
            lambda data: serializer.loads_typed(("msgpack", _decompressed(data))),
        ),
        Format(
            "json + gzip 6 (*)",
            lambda state: json.dumps(state, default=_as_lists).encode(),
            lambda data: [gzip.compress(data, 6)],
            lambda data: json.loads(gzip.decompress(data)),
            is_slow=True,
        ),
    ]


def langgraph_serializer() -> Any:
    """As its checkpointers make it, without options. It warns of each type that it imports; not here."""
    logging.disable(logging.WARNING)
    return importlib.import_module("langgraph.checkpoint.serde.jsonplus").JsonPlusSerializer()


def versions() -> str:
    """Of everything that was measured."""
    named = [f"{name} {version(name)}" for name in (*OTHERS, "tierdeck", "msgpack", "zstandard", "numpy")]
    return ", ".join([f"Python {platform.python_version()}", *named])


def _look_ours(state: State) -> Any:
    return take_snapshot(checkpoint_of(state))


def _load_ours(data: bytes) -> object:
    return load_checkpoint(CheckpointFile(InMemory(data), "bench", limits=AGENT_LIMITS))


def _compressed(data: bytes) -> Sequence[bytes]:
    return [zstandard.ZstdCompressor(level=3).compress(data)]


def _decompressed(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data)


def _as_lists(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(type(value).__name__)
