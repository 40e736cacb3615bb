"""A checkpoint as it was at one moment: what has to happen on the agent's own thread, and no more. Pure.

While this runs the agent's values stand still. Packing, hashing, compressing and writing come after (`pack`,
`seal`), from what is nobody else's, on any thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation, Unread
from tierdeck.checkpoint.file.summary import Summary
from tierdeck.checkpoint.file.table import CELLS, MAX_NAME_CHARS, MEMORY, MESSAGES, PENDING, TRAJECTORY
from tierdeck.checkpoint.kinds.class_facts import type_name
from tierdeck.checkpoint.kinds.loss import Loss
from tierdeck.checkpoint.limits import AGENT_LIMITS, Limits
from tierdeck.checkpoint.values.nodes import Nodes, Source, nodes_of


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Of a checkpoint's values; nothing in it changes when the agent goes on.

    `refused` are variables whose names can't stand in a file, `earlier` what earlier saves lost. How many variables
    there are, and how many were lost, the summary says once it is packed.
    """

    summary: Summary
    nodes: Nodes
    refused: tuple[Loss, ...]
    earlier: tuple[Loss, ...]
    unread: tuple[Unread, ...]
    limits: Limits


def take_snapshot(
    checkpoint: Checkpoint, *, source_text: Mapping[CodeType, str] | None = None, limits: Limits = AGENT_LIMITS
) -> Snapshot:
    """Look at everything of a checkpoint.

    Args:
        checkpoint: its values are only read, and none of their own code is called.
        source_text: the text of functions by their code objects, where a recorded cell gives it.
        limits: what whoever reads it will accept.

    Spec: SPEC-09.21
    """
    variables, refused = _variables(dict(checkpoint.repl_state))
    # The parts first: what is pending must not be what there is no room for.
    sources = [*_parts(checkpoint), *variables]
    nodes = nodes_of(sources, source_text=source_text, limits=limits)
    return Snapshot(
        _summary(checkpoint), nodes, tuple(refused), tuple(checkpoint.losses), tuple(checkpoint.unread), limits
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


def _variables(state: Mapping[str, object]) -> tuple[list[Source], list[Loss]]:
    """Those whose names can stand in a table, and a loss for each of the others."""
    found, refused = [], []
    for name, value in state.items():  # none is looked up: a key can be of a class with an equality of its own
        if type(name) is str and len(name) <= MAX_NAME_CHARS:
            found.append(Source(name, value))
        else:
            shown = name[:60] + "…" if type(name) is str else f"<{type_name(type(name))}>"
            refused.append(Loss(shown, shown, "?", f"its name is no text of at most {MAX_NAME_CHARS:,} characters"))
    return found, refused


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


def _summary(checkpoint: Checkpoint) -> Summary:
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
        messages=len(checkpoint.messages),
        events=len(checkpoint.trajectory_events),
        pending=dict(Counter(operation.state for operation in checkpoint.pending_operations)),
        writer=dict(checkpoint.writer),
    )
