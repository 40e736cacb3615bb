"""What a checkpoint could not save as it was. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LossKind = Literal["lost", "inert", "record"]
LOSS_KINDS = frozenset({"lost", "inert", "record"})
MAX_ALL_LOSSES = 10_000  # listed for a checkpoint
MAX_LOSSES = 20  # listed for one variable; a list of 100,000 locks is said as well by twenty
MAX_REASON = 200  # characters


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that was not saved (`lost`), or not as what it was (`inert`, `record`). Spec: SPEC-09.21

    `path` begins with the variable's name: `matches[3].sock`. With `lost` the whole variable is missing, in parts
    of a checkpoint only the thing itself.
    """

    variable: str
    path: str
    type_name: str
    reason: str
    kind: LossKind = "lost"


class UnsaveableError(ValueError):
    """A value that the closed list does not hold; the text says why. The walk makes a loss of it."""
