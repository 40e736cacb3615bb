"""What one section of the inspect pane is about, read without the other sections; variables one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from tierdeck.checkpoint import (
    CheckpointFile,
    Head,
    Loss,
    Operation,
    UnitEntry,
    open_checkpoint,
    read_losses,
    read_operations,
)
from tierdeck.checkpoint.folder import Listed
from tierdeck.errors import NotFoundError
from tierdeck_tui.reading.checkpoint_parts import PartName, read_part

SectionName = Literal["summary", "variables", "lost", "memory", "messages", "trajectory", "operations"]
SECTIONS: tuple[SectionName, ...] = get_args(SectionName)
_PARTS: Mapping[SectionName, PartName] = {
    "memory": "working_memory",
    "messages": "messages",
    "trajectory": "trajectory",
}


@dataclass(frozen=True, slots=True)
class SectionFacts:
    """One section of one checkpoint; only the fields that belong to the section are filled."""

    section: SectionName
    listed: Listed
    head: Head
    variables: tuple[UnitEntry, ...] = ()
    losses: tuple[Loss, ...] = ()
    operations: tuple[Operation, ...] = ()
    part: object = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """The value of one variable, and what of it is not as it was."""

    name: str
    value: object = field(repr=False)
    losses: tuple[Loss, ...]


def read_section(listed: Listed, section: SectionName) -> SectionFacts:
    """Read a section, by the console's limits. The summary takes 4 KB; no section decodes a variable.

    Raises:
        NotFoundError, DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError, CheckpointError: it can't
            be read: says why.
    """
    with open_checkpoint(listed.path) as file:
        return _section(file, listed, section)


def read_value(listed: Listed, name: str) -> ValueFacts:
    """Decode one variable, and no other. Raises as `read_section`."""
    with open_checkpoint(listed.path) as file:
        return value_facts(file, name)


def value_facts(file: CheckpointFile, name: str) -> ValueFacts:
    """Decode one variable of an open file, and no other.

    Raises:
        NotFoundError: there is none of that name; says why, where the checkpoint knows it.
        DamagedCheckpointError, CheckpointLimitError: it can't be read.
    """
    losses = tuple(loss for loss in read_losses(file) if loss.variable == name)
    try:
        return ValueFacts(name, file.variable(name), losses)
    except NotFoundError as e:
        if not losses:
            raise
        why = losses[0]
        raise NotFoundError(
            f"read variable {name[:80]!r}: it was not saved: {why.path} ({why.type_name}): {why.reason}"
        ) from e


def read_two_values(before: Listed, after: Listed, name: str) -> tuple[object, object]:
    """The same variable out of two checkpoints. Raises as `read_section`."""
    with open_checkpoint(before.path) as first, open_checkpoint(after.path) as second:
        return first.variable(name), second.variable(name)


def _section(file: CheckpointFile, listed: Listed, section: SectionName) -> SectionFacts:
    head = file.head
    if section == "variables":
        return SectionFacts(section, listed, head, variables=file.table().variables, losses=read_losses(file))
    if section == "lost":
        return SectionFacts(section, listed, head, losses=read_losses(file))
    if section == "operations":
        return SectionFacts(section, listed, head, operations=read_operations(file))
    if section in _PARTS:
        return SectionFacts(section, listed, head, part=read_part(file, _PARTS[section]))
    return SectionFacts(section, listed, head)
