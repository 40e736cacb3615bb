"""One part of a checkpoint, such as its messages, read without the others."""

from __future__ import annotations

from typing import Literal, get_args

from tierdeck.checkpoint import CheckpointFile, Operation
from tierdeck.checkpoint.budget import Budget
from tierdeck.checkpoint.checkpoint import OPERATION_STATES
from tierdeck.checkpoint.table import PART
from tierdeck.errors import DamagedCheckpointError

PartName = Literal["working_memory", "messages", "trajectory", "pending", "cells"]
PART_NAMES: tuple[PartName, ...] = get_args(PartName)


def read_part(file: CheckpointFile, name: PartName) -> object:
    """What the part holds. Raises as `CheckpointFile.variable`."""
    return file.value(file.unit(PART, name), Budget(file.limits.memory_bytes))


def read_operations(file: CheckpointFile) -> tuple[Operation, ...]:
    """The operations that were planned, under way or over, in the order the agent noted them.

    Raises:
        DamagedCheckpointError: that is not what stands there.
        CheckpointLimitError: they take more than a limit.
    """
    found = read_part(file, "pending")
    if type(found) is not list:
        raise DamagedCheckpointError(f"read checkpoint {file.name}: its operations are no list")
    return tuple(_operation(file, each) for each in found)


def _operation(file: CheckpointFile, item: object) -> Operation:
    if type(item) is not dict or item.get("state") not in OPERATION_STATES:
        raise DamagedCheckpointError(f"read checkpoint {file.name}: an operation in no known state")
    try:
        made = Operation(**item)
    except TypeError as e:
        raise DamagedCheckpointError(f"read checkpoint {file.name}: an operation with other fields") from e
    if (type(made.op_id), type(made.kind), type(made.turn), type(made.has_side_effects)) != (str, str, int, bool):
        raise DamagedCheckpointError(f"read checkpoint {file.name}: an operation with other fields")
    return made
