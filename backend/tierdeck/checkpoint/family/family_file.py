"""A JSON checkpoint of the family ("1.0", "1.1") as a checkpoint of ours, with what JSON has made of it. Pure.

The facts are from rand/rlm-claude-code at 6e1d13b, src/orchestrator/checkpointing.py. One object of the fields of
its `RLMCheckpoint`, written by `json.dumps(…, default=str)`: what JSON has no type for became text (`str()` of it),
tuples became lists, keys became text. A file without `version` is "1.0"; those may lack `working_memory`,
`pending_operations`, `cost_so_far`, `timestamp` and `metadata`. Its `is_compatible` takes every version whose major
is not above its own. An operation is any object; a `status` of "completed" is the only one that its program passes
over, its tests also write "pending" and "started". A cost that nobody told is written as 0.0.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation, OperationState
from tierdeck.checkpoint.kinds.loss import MAX_LOSSES, Loss
from tierdeck.checkpoint.limits import MB
from tierdeck.checkpoint.version import checked_version, parse_version
from tierdeck.errors import CheckpointLimitError, DamagedCheckpointError

MAX_FAMILY_BYTES = 64 * MB  # as much as the console reads of one section; its objects take up to 21 times as much
DEGRADED = "degraded"
"""The key among a checkpoint's writers under which it says that an import could not bring back all types."""

_DEGRADED_TEXT = "JSON: tuples came as lists, keys and types it lacks as text"
_WHAT_IT_IS = (
    "a checkpoint of rlm-claude-code is a JSON object with session_id, depth, turn, messages, repl_state and "
    "trajectory_events"
)
_KNOWN = frozenset({
    "session_id", "depth", "turn", "messages", "repl_state", "trajectory_events", "working_memory",
    "pending_operations", "cost_so_far", "timestamp", "version", "metadata",
})  # fmt: skip
_STATES: Mapping[object, OperationState] = {
    "pending": "pending",
    "completed": "done",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
}
# `str()` of what can't be text: an object with its address, a module, a class, a function, an open file.
_THING = re.compile(
    r"<(?:(?:module|class) '|(?:unlocked |locked )?_thread\.|_io\.|built-in |function |bound method "
    r"|(?:generator|coroutine) object |[\w.]+ object at 0x)[^\n]{0,400}>"
)
_T = TypeVar("_T")
_MAX_SECONDS = 9_000_000_000  # as nanoseconds it still fits 64 bits


@dataclass(frozen=True, slots=True)
class FamilyCheckpoint:
    """What the file held, as a checkpoint that can be saved, and the version that its file says."""

    checkpoint: Checkpoint
    version: str


def read_family_checkpoint(data: bytes, name: str, *, changed_at_ns: int) -> FamilyCheckpoint:
    """One of the family's checkpoints. Its losses list what is text now and was something else.

    The id is made of the bytes and the branch of the session's id: the same file gives the same checkpoint again.
    An operation whose outcome is not told counts as running: a restore asks about it.

    Args:
        data: the whole file.
        name: the file, for messages.
        changed_at_ns: when the file was written last, for one that does not say when it was made.

    Raises:
        NewerCheckpointError: of a newer major version.
        DamagedCheckpointError: no JSON, or none of these checkpoints, or a version that never was.
        CheckpointLimitError: longer than 64 MB.

    Spec: SPEC-09.26
    """
    if len(data) > MAX_FAMILY_BYTES:
        raise CheckpointLimitError(
            f"read checkpoint {name}: {len(data):,} bytes, the limit is {MAX_FAMILY_BYTES:,}"
        )
    fields = _fields(data, name)
    major, minor = parse_version(fields.get("version", "1.0"), name)
    checked_version(major, minor, name)
    version = f"{major}.{minor}"
    return FamilyCheckpoint(_checkpoint(_Fields(fields, name), data, version, changed_at_ns), version)


def _fields(data: bytes, name: str) -> dict[str, object]:
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as e:
        why = "nested too deep" if isinstance(e, RecursionError) else str(e)[:100]
        raise DamagedCheckpointError(f"read checkpoint {name}: it is no JSON ({why})") from e
    if type(fields) is not dict:
        raise DamagedCheckpointError(f"read checkpoint {name}: it is JSON, but no checkpoint")
    return fields


def _checkpoint(fields: _Fields, data: bytes, version: str, changed_at_ns: int) -> Checkpoint:
    session_id, turn = fields.text("session_id"), fields.number("turn")
    state = fields.one("repl_state", dict)
    return Checkpoint(
        session_id=session_id,
        checkpoint_id=blake2b(data, digest_size=8).hexdigest(),
        created_at_ns=_created_ns(fields.held.get("timestamp"), changed_at_ns),
        turn=turn,
        depth=fields.number("depth"),
        repl_state=state,
        working_memory=fields.one("working_memory", dict, {}),
        pending_operations=_operations(fields.one("pending_operations", list, []), turn),
        trajectory_events=fields.one("trajectory_events", list),
        messages=fields.one("messages", list),
        cost_so_far=_cost(fields.held.get("cost_so_far")),
        reason="manual",
        branch=blake2b(session_id.encode("utf-8", "surrogatepass"), digest_size=4, person=b"family").hexdigest(),
        writer={"imported from": f"rlm-claude-code, JSON {version}", DEGRADED: _DEGRADED_TEXT},
        losses=tuple(_losses(fields.held, state)),
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    """The JSON object, each field checked for its type when it is taken."""

    held: Mapping[str, object]
    name: str

    def one(self, key: str, kind: type[_T], default: _T | None = None) -> _T:
        if key not in self.held and default is not None:
            return default
        value = self.held.get(key)
        if type(value) is not kind:
            told = type(value).__name__ if key in self.held else "missing"
            raise DamagedCheckpointError(
                f"read checkpoint {self.name}: its {key} is {told}, it must be {kind.__name__}", hint=_WHAT_IT_IS
            )
        return value

    def number(self, key: str) -> int:
        value = self.one(key, int)
        if not 0 <= value < 2**63:
            raise DamagedCheckpointError(f"read checkpoint {self.name}: its {key} is no count")
        return value

    def text(self, key: str) -> str:
        value = self.one(key, str)
        if not value:
            raise DamagedCheckpointError(f"read checkpoint {self.name}: its {key} is empty")
        return value


def _created_ns(timestamp: object, changed_at_ns: int) -> int:
    if isinstance(timestamp, int | float) and not isinstance(timestamp, bool) and abs(timestamp) < _MAX_SECONDS:
        return int(timestamp * 1_000_000_000)
    return changed_at_ns


def _cost(cost: object) -> float | None:
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    try:
        dollars = float(cost)
    except OverflowError:
        return None
    return dollars if math.isfinite(dollars) and dollars > 0 else None


def _operations(operations: Sequence[object], turn: int) -> tuple[Operation, ...]:
    made = []
    for number, each in enumerate(operations, 1):
        told = each if isinstance(each, dict) else {}
        op_id, kind, status = told.get("op_id"), told.get("type"), told.get("status")
        made.append(
            Operation(
                op_id=op_id if isinstance(op_id, str) and op_id else f"imported-{number}",
                kind=kind if isinstance(kind, str) and kind else "imported",
                state=_STATES.get(status, "running") if isinstance(status, str) else "running",
                turn=turn,
                request=each,
                result=told.get("result"),
            )
        )
    return tuple(made)


def _losses(fields: Mapping[str, object], state: Mapping[str, object]) -> Iterator[Loss]:
    for name in sorted(set(fields) - _KNOWN):
        yield Loss(
            name[:60], name[:60], type(fields[name]).__name__, "a field of the JSON file that has no place here"
        )
    if fields.get("metadata"):
        yield Loss("metadata", "metadata", "dict", "a field of the JSON file that has no place here")
    for name, value in state.items():
        yield from _things(name, value)


def _things(name: str, value: object) -> Iterator[Loss]:
    """Texts inside a variable that say of themselves that they were something else."""
    found, todo = 0, [(name, value)]
    while todo and found < MAX_LOSSES:
        path, each = todo.pop()
        if isinstance(each, str) and _THING.fullmatch(each):
            found += 1
            yield Loss(
                name, path, each[1:60].rstrip(">"), "JSON kept its text alone, not the thing itself", "inert"
            )
        elif isinstance(each, dict):
            todo += reversed([(f"{path}[{key[:40]!r}]", inner) for key, inner in each.items()])
        elif isinstance(each, list):
            todo += reversed([(f"{path}[{number}]", inner) for number, inner in enumerate(each)])
