"""A checkpoint as a value: what a session was at one turn, and what of it could not be saved. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tierdeck.checkpoint.kinds.loss import Loss

Reason = Literal["auto", "manual", "pre-restore", "exit"]
REASONS = frozenset({"auto", "manual", "pre-restore", "exit"})
OperationState = Literal["pending", "running", "done", "failed", "cancelled"]
OPERATION_STATES = frozenset({"pending", "running", "done", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of a session that was planned, under way or over. `op_id` is the same for the same call again.

    Spec: SPEC-09.21
    """

    op_id: str
    kind: str
    state: OperationState
    turn: int = 0
    has_side_effects: bool = True
    request: object = None
    result: object = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The session and the checkpoint that a forked session began from."""

    session_id: str
    checkpoint_id: str


@dataclass(frozen=True, slots=True)
class Unread:
    """What a newer minor version has put into a file and this one can't read: kept, and written back as it was.

    `name` None: a whole section of that kind, else a unit. `minor` is the version that wrote it.
    """

    kind: str
    name: str | None
    raw: bytes
    form: int = 0
    minor: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a session (the specification's RLMCheckpoint). Spec: SPEC-09.21

    `repl_state` holds all variables by name; read back, those that could be saved. `cost_so_far` is in US dollars;
    None is unknown, which is not 0. `checkpoint_id` is 16 hex digits, `branch` 8. `cells` are the texts that were
    run. `losses` is what an earlier save of the same state could not keep; it is carried on.
    """

    session_id: str
    checkpoint_id: str
    created_at_ns: int
    turn: int
    depth: int = 0
    repl_state: Mapping[str, object] = field(default_factory=dict)
    working_memory: Mapping[str, object] = field(default_factory=dict)
    pending_operations: Sequence[Operation] = ()
    trajectory_events: Sequence[object] = ()
    messages: Sequence[object] = ()
    cells: Sequence[str] = ()
    cost_so_far: float | None = None
    tokens: int | None = None
    reason: Reason = "auto"
    label: str | None = None
    parent: str | None = None
    branch: str = "00000000"
    origin: Origin | None = None
    writer: Mapping[str, str] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()
    unread: tuple[Unread, ...] = ()
