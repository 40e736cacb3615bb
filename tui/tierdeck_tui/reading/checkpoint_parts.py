"""One part of a checkpoint, such as its messages, read without the others."""

from __future__ import annotations

from typing import Literal, get_args

from tierdeck.checkpoint import CheckpointFile
from tierdeck.checkpoint.file.table import PART

PartName = Literal["working_memory", "messages", "trajectory", "pending", "cells"]
PART_NAMES: tuple[PartName, ...] = get_args(PartName)


def read_part(file: CheckpointFile, name: PartName) -> object:
    """What the part holds. Raises as `CheckpointFile.variable`."""
    return file.value(file.unit(PART, name), file.budget())
