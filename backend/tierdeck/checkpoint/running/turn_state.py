"""What an agent hands over at the end of a turn."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import CodeType

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation, Origin, Reason, Unread
from tierdeck.checkpoint.kinds.loss import Loss
from tierdeck.checkpoint.running.spending import Spending

WRITER = "tierdeck"  # among the writers of what a running session saved


@dataclass(frozen=True, slots=True)
class TurnState:
    """The agent's own objects, not copies: what they hold when a checkpoint is taken is what is saved."""

    variables: Mapping[str, object]
    messages: Sequence[object] = ()
    working_memory: Mapping[str, object] = field(default_factory=dict)
    trajectory: Sequence[object] = ()
    cells: Sequence[str] = ()
    source_text: Mapping[CodeType, str] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session stands: who it is, on which branch, after how many turns, and what it came from.

    `losses` and `unread` are of the checkpoint it was resumed from: the next one carries them on.
    """

    session_id: str
    branch: str
    turn: int = 0
    depth: int = 0
    parent: str | None = None
    origin: Origin | None = None
    losses: tuple[Loss, ...] = ()
    unread: tuple[Unread, ...] = ()


def checkpoint_of(
    place: Place,
    state: TurnState,
    spending: Spending,
    operations: Sequence[Operation],
    *,
    reason: Reason,
    label: str | None,
    now_ns: int,
) -> Checkpoint:
    """The state as a checkpoint of its own id."""
    losses = tuple(loss for loss in place.losses if loss.variable not in state.variables)
    return Checkpoint(
        session_id=place.session_id,
        checkpoint_id=secrets.token_hex(8),
        created_at_ns=now_ns,
        turn=place.turn,
        depth=place.depth,
        repl_state=state.variables,
        working_memory=state.working_memory,
        pending_operations=operations,
        trajectory_events=state.trajectory,
        messages=state.messages,
        cells=state.cells,
        cost_so_far=spending.session,
        tokens=spending.session_tokens,
        reason=reason,
        label=label,
        parent=place.parent,
        branch=place.branch,
        origin=place.origin,
        writer=_writer(),
        losses=losses,
        unread=place.unread,
    )


@cache
def _writer() -> Mapping[str, str]:
    try:
        ours = version("tierdeck")
    except PackageNotFoundError:
        ours = "?"
    return {WRITER: ours, "python": platform.python_version()}
