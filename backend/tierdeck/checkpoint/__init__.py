"""Saved sessions: values to bytes and back, safely (FORMAT.md), and the files they lie in.

snapshot = take_snapshot(checkpoint)               # the agent's thread; its values are read, never called
publish(path, seal(pack(snapshot)).pieces)         # any thread

with open_checkpoint(path, limits=AGENT_LIMITS) as file:
    checkpoint = load_checkpoint(file)
"""

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation, Origin, Unread
from tierdeck.checkpoint.header import Head
from tierdeck.checkpoint.limits import AGENT_LIMITS, CONSOLE_LIMITS, Limits
from tierdeck.checkpoint.load import load_checkpoint, read_losses, read_operations
from tierdeck.checkpoint.loss import Loss
from tierdeck.checkpoint.pack import Packed, pack, pack_checkpoint
from tierdeck.checkpoint.publish import publish
from tierdeck.checkpoint.reading import CheckpointFile, InMemory, open_checkpoint, read_head
from tierdeck.checkpoint.records import Inert, Placeholder, Record, Unsaved
from tierdeck.checkpoint.revive import with_classes
from tierdeck.checkpoint.seal import Sealed, seal
from tierdeck.checkpoint.snapshot import Snapshot, take_snapshot
from tierdeck.checkpoint.summary import Summary
from tierdeck.checkpoint.table import Section, Table, UnitEntry

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
