"""A file whose digests all fit, and whose parts are not what stands there in any that we write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tierdeck.checkpoint.sample import opened, sample
from tierdeck.checkpoint import CheckpointFile, load_checkpoint, pack_checkpoint, read_losses, seal
from tierdeck.checkpoint.file.load import read_operations
from tierdeck.checkpoint.kinds.pieces import pack_plain
from tierdeck.checkpoint.values.encode import EncodedUnit
from tierdeck.errors import DamagedCheckpointError


def with_part(name: str, node: object) -> CheckpointFile:
    """A file with this node as one of its parts."""
    packed = pack_checkpoint(sample(repl_state={"x": 1}, pending_operations=(), losses=()))
    units = [
        EncodedUnit(replace(unit.facts, pool=None), (pack_plain(node),), 0) if unit.facts.name == name else unit
        for unit in packed.units
    ]
    return opened(b"".join(seal(replace(packed, units=tuple(units))).pieces))


def operation(**changes: object) -> list[object]:
    """An operation as a node."""
    fields = {"op_id": "o", "kind": "tool", "state": "pending", "turn": 1, "has_side_effects": True} | changes
    return [2, *(each for pair in fields.items() for each in pair)]


@pytest.mark.parametrize(
    "node",
    [
        None, 5, "text", [2], [1], [0, None], [0, [2]], [0, [0]], operation(), [0, [2, 1, "done"]],
        [0, operation(state=[0])], [0, operation(state=[2])], [0, operation(state=[3])], [0, operation(state=None)],
        [0, operation(state=[4])], [0, operation(state=1.0)], [0, operation(state="lost")],
        [0, operation(turn=[0])], [0, operation(turn=1.0)], [0, operation(op_id=[0])],
        [0, operation(kind=None)], [0, operation(more=1)],
        [0, operation(has_side_effects=1)],
    ],
    ids=repr,
)  # fmt: skip
def test_operations_that_are_none_are_damage(node: object) -> None:
    for read in (load_checkpoint, read_operations):
        with pytest.raises(DamagedCheckpointError):
            read(with_part("pending", node))


@pytest.mark.parametrize(
    "node",
    [
        None, [2], [1], [0, None], [0, "text"], [0, [0, "a", "a", "b", "c"]], [0, [0, [0], "a", "b", "c", "lost"]],
        [0, [0, "a", "a", "b", "c", "gone"]], [0, [0, "a", "a", "b", "c", [0]]],
    ],
    ids=repr,
)  # fmt: skip
def test_losses_that_are_none_are_damage(node: object) -> None:
    for read in (load_checkpoint, read_losses):
        with pytest.raises(DamagedCheckpointError):
            read(with_part("lost", node))
