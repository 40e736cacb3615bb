"""A whole checkpoint from an open file: the value that was saved, with what is missing from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

from tierdeck.checkpoint.checkpoint import OPERATION_STATES, Checkpoint, Operation, Unread
from tierdeck.checkpoint.file.ahead import Ahead
from tierdeck.checkpoint.file.reading import CheckpointFile, Sections
from tierdeck.checkpoint.file.table import (
    CELLS,
    LOST,
    MEMORY,
    MESSAGES,
    PART,
    PARTS,
    PENDING,
    POOL,
    TRAJECTORY,
    UNITS,
    VARIABLE,
    Table,
)
from tierdeck.checkpoint.kinds.loss import LOSS_KINDS, Loss
from tierdeck.checkpoint.limits import MB
from tierdeck.errors import DamagedCheckpointError

_AHEAD_FROM_BYTES = MB
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Values:
    variables: Mapping[str, object]
    parts: Mapping[str, object]
    unread: tuple[Unread, ...]


def load_checkpoint(file: CheckpointFile) -> Checkpoint:
    """Everything in the file, after its trailer has been checked: what was saved, and in `losses` what was not.

    Raises:
        DamagedCheckpointError: any part of it is not what was written; then nothing of it is given.
        CheckpointLimitError: it takes more than a limit of the file's limits.
        CheckpointKeyError: its seal can't be checked with the file's key: see `CheckpointFile.verify`.

    Spec: SPEC-09.23
    """
    with _ahead(file) as ahead:
        file.verify()
        values, summary = _values(file, ahead), file.head.summary
    return Checkpoint(
        session_id=summary.session_id,
        checkpoint_id=summary.checkpoint_id,
        created_at_ns=summary.created_at_ns,
        turn=summary.turn,
        depth=summary.depth,
        repl_state=values.variables,
        working_memory=_part(file, values, MEMORY, dict),
        pending_operations=tuple(_operation(file, item) for item in _part(file, values, PENDING, list)),
        trajectory_events=_part(file, values, TRAJECTORY, list),
        messages=_part(file, values, MESSAGES, list),
        cells=_part(file, values, CELLS, list),
        cost_so_far=summary.cost_so_far,
        tokens=summary.tokens,
        reason=summary.reason,
        label=summary.label,
        parent=summary.parent,
        branch=summary.branch,
        origin=summary.origin,
        writer=summary.writer,
        losses=tuple(_loss(file, item) for item in _part(file, values, LOST, list)),
        unread=values.unread,
    )


def read_losses(file: CheckpointFile) -> tuple[Loss, ...]:
    """What the checkpoint does not hold, or not as what it was; only that section is read. Raises as `variable`."""
    listed = file.value(file.unit(PART, LOST), file.budget())
    if type(listed) is not list:
        raise _odd(file, LOST)
    return tuple(_loss(file, item) for item in listed)


def read_operations(file: CheckpointFile) -> tuple[Operation, ...]:
    """The calls that were not finished when the checkpoint was made; only they are read. Raises as `variable`."""
    listed = file.value(file.unit(PART, PENDING), file.budget())
    if type(listed) is not list:
        raise _odd(file, PENDING)
    return tuple(_operation(file, item) for item in listed)


def _ahead(file: CheckpointFile) -> AbstractContextManager[Ahead | None]:
    """Sections of a large file are decompressed beside its verification, and beside decoding."""
    if file.head.summary.raw_bytes < _AHEAD_FROM_BYTES:
        return nullcontext()
    return Ahead(lambda: _in_order(file.table()), lambda number: file.raw_section(number, before_verified=True))


def _in_order(table: Table) -> Iterator[tuple[int, int]]:
    """The sections in the order in which `_values` asks for them, and their sizes."""
    found: dict[int, int] = {}
    for unit in table.units:
        for number in (unit.pool, unit.section):
            if number is not None and number not in found:
                found[number] = table.sections[number].raw_bytes
                yield number, found[number]


def _values(file: CheckpointFile, ahead: Ahead | None) -> _Values:
    table, sections, budget = file.table(), Sections(file, ahead), file.budget()
    variables: dict[str, object] = {}
    parts: dict[str, object] = {}
    unread = [
        Unread(section.kind, None, file.raw_section(number), minor=file.head.minor)
        for number, section in enumerate(table.sections)
        if section.kind not in (UNITS, POOL)
    ]
    for unit in table.units:
        if unit.form <= 1 and unit.kind == VARIABLE:
            variables[unit.name] = file.value(unit, budget, sections)
        elif unit.form <= 1 and unit.kind == PART and unit.name in PARTS:
            parts[unit.name] = file.value(unit, budget, sections)
        elif file.head.is_newer and unit.pool is None:
            unread.append(Unread(unit.kind, unit.name, bytes(sections.raw_of(unit)), unit.form, file.head.minor))
        else:
            raise _odd(file, unit.name)
    return _Values(variables, parts, tuple(unread))


def _part(file: CheckpointFile, values: _Values, name: str, kind: type[_T]) -> _T:
    found = values.parts.get(name)
    if type(found) is not kind:
        raise _odd(file, name)
    return found


def _operation(file: CheckpointFile, item: object) -> Operation:
    if type(item) is not dict or type(item.get("state")) is not str or item["state"] not in OPERATION_STATES:
        raise _odd(file, PENDING)
    try:
        made = Operation(**item)
    except TypeError as e:
        raise _odd(file, PENDING) from e
    kinds = (type(made.op_id), type(made.kind), type(made.turn), type(made.has_side_effects))
    if kinds != (str, str, int, bool):
        raise _odd(file, PENDING)
    return made


def _loss(file: CheckpointFile, item: object) -> Loss:
    if type(item) is not list or len(item) != 5 or any(type(text) is not str for text in item):
        raise _odd(file, LOST)
    if item[4] not in LOSS_KINDS:
        raise _odd(file, LOST)
    return Loss(*item)


def _odd(file: CheckpointFile, name: str) -> DamagedCheckpointError:
    return DamagedCheckpointError(f"read checkpoint {file.name}: its {name[:80]!r} is not what stands there")
