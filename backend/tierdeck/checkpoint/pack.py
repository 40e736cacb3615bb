"""A checkpoint into raw bytes: what has to happen on the agent's own thread, and no more. Pure.

While this runs the agent's values stand still. Hashing, compressing and writing come after (`seal`), from bytes
that are nobody else's, on any thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation, Unread
from tierdeck.checkpoint.encode import EncodedPool, EncodedUnit, Source, encode_units
from tierdeck.checkpoint.limits import AGENT_LIMITS, Limits
from tierdeck.checkpoint.loss import MAX_ALL_LOSSES, Loss
from tierdeck.checkpoint.summary import Summary
from tierdeck.checkpoint.table import MAX_NAME_CHARS
from tierdeck.checkpoint.version import MINOR

MEMORY, MESSAGES, TRAJECTORY, PENDING, CELLS, LOST = (
    "working_memory", "messages", "trajectory", "pending", "cells", "lost",
)  # fmt: skip
PARTS = (MEMORY, MESSAGES, TRAJECTORY, PENDING, CELLS, LOST)


@dataclass(frozen=True, slots=True)
class Packed:
    """A checkpoint as raw bytes; how many they are, the summary says once they are sealed.

    `losses` is all that was not saved as it was, also by earlier saves.
    """

    summary: Summary
    units: tuple[EncodedUnit, ...]
    pools: tuple[EncodedPool, ...]
    losses: tuple[Loss, ...]
    unread: tuple[Unread, ...]
    minor: int = MINOR


def pack_checkpoint(
    checkpoint: Checkpoint, *, source_text: Mapping[CodeType, str] | None = None, limits: Limits = AGENT_LIMITS
) -> Packed:
    """Everything of a checkpoint that can be saved, as bytes, and a list of what can't.

    Args:
        checkpoint: its values are only read, and none of their own code is called.
        source_text: the text of functions by their code objects, where a recorded cell gives it.
        limits: what whoever reads it will accept.

    Spec: SPEC-09.21
    """
    state = dict(checkpoint.repl_state)
    names, refused = _names(state)
    parts = _parts(checkpoint)
    # The parts first: what is pending must not be what there is no room for.
    sources = [*parts, *(Source(name, state[name]) for name in names)]
    encoded = encode_units(sources, source_text=source_text, limits=_left_for(checkpoint, limits))
    saved = {unit.name for unit in encoded.units if unit.is_part}
    missing = [part.name for part in parts if part.name not in saved]
    emptied = encode_units([Source(name, {} if name == MEMORY else [], is_part=True) for name in missing])
    all_losses = _all_losses((*refused, *encoded.losses), checkpoint.losses)
    losses = all_losses[:MAX_ALL_LOSSES]
    listed = encode_units([Source(LOST, [_loss_fields(loss) for loss in losses], is_part=True)], limits=limits)
    units = (*encoded.units, *emptied.units, *listed.units)
    summary = _summary(checkpoint, all_losses, units)
    minor = max([encoded.minor, *(unread.minor for unread in checkpoint.unread)])
    return Packed(summary, units, encoded.pools, losses, checkpoint.unread, minor)


def _left_for(checkpoint: Checkpoint, limits: Limits) -> Limits:
    """What variables and parts may take, so that the list of losses and what was not understood fit beside them.

    A file is no longer than its limit either, with its table: a sixteenth of the bytes is left for both.
    """
    unread = checkpoint.unread
    return replace(
        limits,
        units=limits.units - len(PARTS) - len(unread),
        raw_bytes=limits.raw_bytes - limits.raw_bytes // 16 - sum(len(each.raw) for each in unread),
    )


def _parts(checkpoint: Checkpoint) -> list[Source]:
    operations = [_operation_fields(operation) for operation in checkpoint.pending_operations]
    memory, messages = checkpoint.working_memory, checkpoint.messages
    events, cells = checkpoint.trajectory_events, checkpoint.cells
    return [
        Source(PENDING, operations, is_part=True),
        # As they are where they can be: a variable may be the same list.
        Source(MEMORY, memory if type(memory) is dict else dict(memory), is_part=True),
        Source(MESSAGES, messages if type(messages) is list else list(messages), is_part=True),
        Source(TRAJECTORY, events if type(events) is list else list(events), is_part=True),
        Source(CELLS, cells if type(cells) is list else list(cells), is_part=True),
    ]


def _names(state: Mapping[str, object]) -> tuple[list[str], list[Loss]]:
    """The variables whose names can stand in a table, and a loss for each of the others."""
    names, refused = [], []
    for name in state:
        if type(name) is str and len(name) <= MAX_NAME_CHARS:
            names.append(name)
        else:
            shown = name[:60] + "…" if type(name) is str else f"<{type(name).__name__}>"
            refused.append(Loss(shown, shown, "?", f"its name is no text of at most {MAX_NAME_CHARS:,} characters"))
    return names, refused


def _operation_fields(operation: Operation) -> dict[str, object]:
    return {
        "op_id": operation.op_id,
        "kind": operation.kind,
        "state": operation.state,
        "turn": operation.turn,
        "has_side_effects": operation.has_side_effects,
        "request": operation.request,
        "result": operation.result,
    }


def _loss_fields(loss: Loss) -> list[str]:
    return [loss.variable, loss.path, loss.type_name, loss.reason, loss.kind]


def _all_losses(now: Sequence[Loss], before: Sequence[Loss]) -> tuple[Loss, ...]:
    """What this save lost, then what an earlier one had lost already and this one did not meet again."""
    seen = {loss.path for loss in now}
    return (*now, *(loss for loss in before if loss.path not in seen))


def _summary(checkpoint: Checkpoint, losses: Sequence[Loss], units: Sequence[EncodedUnit]) -> Summary:
    return Summary(
        session_id=checkpoint.session_id,
        checkpoint_id=checkpoint.checkpoint_id,
        created_at_ns=checkpoint.created_at_ns,
        turn=checkpoint.turn,
        depth=checkpoint.depth,
        reason=checkpoint.reason,
        branch=checkpoint.branch,
        parent=checkpoint.parent,
        label=checkpoint.label,
        cost_so_far=None if checkpoint.cost_so_far is None else float(checkpoint.cost_so_far),
        tokens=checkpoint.tokens,
        origin=checkpoint.origin,
        variables=sum(not unit.is_part for unit in units),
        lost=len({loss.variable for loss in losses if loss.kind == "lost"}),
        inert=sum(loss.kind != "lost" for loss in losses),
        messages=len(checkpoint.messages),
        events=len(checkpoint.trajectory_events),
        pending=dict(Counter(operation.state for operation in checkpoint.pending_operations)),
        writer=dict(checkpoint.writer),
    )
