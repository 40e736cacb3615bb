"""Saved sessions: values to bytes and back, safely (FORMAT.md), and the files they lie in.

snapshot = take_snapshot(checkpoint)               # the agent's thread; its values are read, never called
publish(path, seal(pack(snapshot)).pieces)         # any thread

with open_checkpoint(path, limits=AGENT_LIMITS) as file:
    checkpoint = load_checkpoint(file)
"""

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation, Origin, Unread
from tierdeck.checkpoint.file.bytes_source import InMemory
from tierdeck.checkpoint.file.header import Head
from tierdeck.checkpoint.file.load import load_checkpoint, read_losses, read_operations
from tierdeck.checkpoint.file.pack import Packed, pack, pack_checkpoint
from tierdeck.checkpoint.file.publish import publish
from tierdeck.checkpoint.file.reading import CheckpointFile, open_checkpoint, read_head
from tierdeck.checkpoint.file.seal import Sealed, seal
from tierdeck.checkpoint.file.snapshot import Snapshot, take_snapshot
from tierdeck.checkpoint.file.summary import Summary
from tierdeck.checkpoint.file.table import Section, Table, UnitEntry
from tierdeck.checkpoint.kinds.loss import Loss
from tierdeck.checkpoint.kinds.records import Inert, Placeholder, Record, Unsaved
from tierdeck.checkpoint.limits import AGENT_LIMITS, CONSOLE_LIMITS, Limits
from tierdeck.checkpoint.values.revive import with_classes

__all__ = [
    "AGENT_LIMITS",
    "CONSOLE_LIMITS",
    "Checkpoint",
    "CheckpointFile",
    "Head",
    "InMemory",
    "Inert",
    "Limits",
    "Loss",
    "Operation",
    "Origin",
    "Packed",
    "Placeholder",
    "Record",
    "Sealed",
    "Section",
    "Snapshot",
    "Summary",
    "Table",
    "UnitEntry",
    "Unread",
    "Unsaved",
    "load_checkpoint",
    "open_checkpoint",
    "pack",
    "pack_checkpoint",
    "publish",
    "read_head",
    "read_losses",
    "read_operations",
    "seal",
    "take_snapshot",
    "with_classes",
]
