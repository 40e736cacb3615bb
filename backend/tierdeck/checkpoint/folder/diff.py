"""What two checkpoints have in common, from their tables alone: nothing is decoded."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.checkpoint.file.reading import CheckpointFile
from tierdeck.checkpoint.file.table import UnitEntry


@dataclass(frozen=True, slots=True)
class Change:
    """A variable or part that is another in the second checkpoint; types and previews are in the entries."""

    before: UnitEntry
    after: UnitEntry

    @property
    def name(self) -> str:
        """What it is called in both."""
        return self.after.name


@dataclass(frozen=True, slots=True)
class Diff:
    """What the second checkpoint has that the first lacks, the other way round, and what is another or the same.

    Each in the order of the session. An entry's `kind` tells variables from parts ("messages", "working_memory" …).
    """

    added: tuple[UnitEntry, ...]
    removed: tuple[UnitEntry, ...]
    changed: tuple[Change, ...]
    same: tuple[UnitEntry, ...]


def diff(a: CheckpointFile, b: CheckpointFile) -> Diff:
    """Compare two checkpoints by the digests of what their variables and parts mean.

    Equal digests are equal values. A value that shares objects with others can count as changed though it is equal,
    when those objects are numbered otherwise.

    Raises:
        DamagedCheckpointError: a table is not what was written.
        CheckpointLimitError: a table is larger than a limit.

    Spec: SPEC-09.22
    """
    first = {(unit.kind, unit.name): unit for unit in a.table().units}
    second = {(unit.kind, unit.name): unit for unit in b.table().units}
    changed, same = [], []
    for place, after in second.items():
        before = first.get(place)
        if before is None:
            continue
        if _meaning(before) == _meaning(after):
            same.append(after)
        else:
            changed.append(Change(before, after))
    return Diff(
        tuple(unit for place, unit in second.items() if place not in first),
        tuple(unit for place, unit in first.items() if place not in second),
        tuple(changed),
        tuple(same),
    )


def _meaning(unit: UnitEntry) -> tuple[bytes, int, str]:
    return unit.digest, unit.form, unit.type_name
