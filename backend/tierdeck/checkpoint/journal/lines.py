"""What a journal's records say, and their bytes: one flat array of plain values each. Pure.

A record of a kind that a newer minor version writes is passed over and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import cast

import msgpack

from tierdeck.checkpoint.checkpoint import OPERATION_STATES, OperationState
from tierdeck.checkpoint.journal.entry import CHOICES, Choice, Decision, Entry
from tierdeck.checkpoint.journal.stored_value import StoredValue
from tierdeck.checkpoint.kinds.pieces import pack_plain

_MAX_ITEMS = 64


@dataclass(frozen=True, slots=True)
class BranchLine:
    """The first record: whose journal it is, and what it branched off from.

    `spent_before` and `tokens_before` are what the session had spent on branches that this one does not go on
    from; None when that is unknown.
    """

    session_id: str
    branch: str
    parent: str | None = None
    parent_turn: int = 0
    spent_before: float | None = 0.0
    tokens_before: int | None = 0


@dataclass(frozen=True, slots=True)
class CallLine:
    """A call planned, begun, or made on a branch that was left (`is_before`), as it stands then."""

    entry: Entry
    is_before: bool = False


@dataclass(frozen=True, slots=True)
class FinishLine:
    """A call that is over."""

    op_id: str
    state: OperationState
    result: StoredValue | None
    at_ns: int


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """What was said about a call of unknown outcome."""

    op_id: str
    decision: Decision
    at_ns: int


@dataclass(frozen=True, slots=True)
class TurnLine:
    """A turn is over; what the branch and the session have cost by then. None is unknown."""

    turn: int
    cost_of_branch: float | None
    cost_of_session: float | None
    tokens_of_branch: int | None
    tokens_of_session: int | None
    at_ns: int


Line = BranchLine | CallLine | FinishLine | DecisionLine | TurnLine

_NUMBER, _COUNT = (float, NoneType), (int, NoneType)
_VALUE = ((bytes, NoneType), (int,), (str, NoneType))
_SHAPES: dict[str, tuple[tuple[type, ...], ...]] = {
    "branch": ((str,), (str,), (str, NoneType), (int,), _NUMBER, _COUNT),
    "call": (
        (bool,), (str,), (str,), (str,), (int,), (bool,), (str,), (str,), *_VALUE, *_VALUE, (int,), (int,),
    ),
    "finish": ((str,), (str,), *_VALUE, (int,)),
    "decision": ((str,), (str,), *_VALUE, (str, NoneType), (int,)),
    "turn": ((int,), _NUMBER, _NUMBER, _COUNT, _COUNT, (int,)),
}  # fmt: skip


def pack_line(line: Line) -> bytes:
    """The record's bytes, without length and checksum."""
    return pack_plain(_fields(line))


def parse_line(data: bytes) -> Line | None:
    """What a record says; None when it is of a kind that this version does not know.

    Raises:
        ValueError: no version of ours wrote it.
    """
    try:
        fields = msgpack.unpackb(
            data, max_array_len=_MAX_ITEMS, max_map_len=0, max_ext_len=0, unicode_errors="surrogatepass"
        )
    except Exception as e:  # the unpacker raises what it likes for hostile bytes
        raise ValueError(f"it can't be read: {str(e)[:100]}") from e
    if type(fields) is not list or not fields or type(fields[0]) is not str:
        raise ValueError("it is no record")
    shape = _SHAPES.get(fields[0])
    if shape is None:
        return None
    if len(fields) <= len(shape) or any(
        type(field) not in kinds for field, kinds in zip(fields[1:], shape, strict=False)
    ):
        raise ValueError(f"it is no record of a {fields[0]}")
    return _line(fields[0], fields[1:])


def _fields(line: Line) -> list[object]:
    if isinstance(line, BranchLine):
        before = (line.spent_before, line.tokens_before)
        return ["branch", line.session_id, line.branch, line.parent, line.parent_turn, *before]
    if isinstance(line, CallLine):
        call = line.entry
        who = (call.op_id, call.kind, call.state, call.turn, call.has_side_effects, call.digest, call.branch)
        values = (*_value_fields(call.request), *_value_fields(call.result))
        return ["call", line.is_before, *who, *values, call.at_ns, call.starts]
    if isinstance(line, FinishLine):
        return ["finish", line.op_id, line.state, *_value_fields(line.result), line.at_ns]
    if isinstance(line, DecisionLine):
        said = line.decision
        return ["decision", line.op_id, said.choice, *_value_fields(said.value), said.by, line.at_ns]
    costs = (line.cost_of_branch, line.cost_of_session, line.tokens_of_branch, line.tokens_of_session)
    return ["turn", line.turn, *costs, line.at_ns]


def _line(kind: str, fields: list[object]) -> Line:
    if kind == "branch":
        return BranchLine(*fields[:6])  # type: ignore[arg-type]  # the shape was checked
    if kind == "turn":
        return TurnLine(*fields[:6])  # type: ignore[arg-type]
    if kind == "finish":
        return FinishLine(cast(str, fields[0]), _state(fields[1]), _value(fields[2:5]), cast(int, fields[5]))
    if kind == "decision":
        decision = Decision(_choice(fields[1]), _value(fields[2:5]), cast("str | None", fields[5]))
        return DecisionLine(cast(str, fields[0]), decision, cast(int, fields[6]))
    return _call_line(fields)


def _call_line(fields: list[object]) -> CallLine:
    is_before, op_id, name, state, turn, has_side_effects, digest, branch = fields[:8]
    request = _value(fields[8:11])
    if request is None:
        raise ValueError("a call without a request")
    entry = Entry(
        cast(str, op_id),
        cast(str, name),
        _state(state),
        cast(int, turn),
        cast(bool, has_side_effects),
        cast(str, digest),
        cast(str, branch),
        request,
        _value(fields[11:14]),
        cast(int, fields[14]),
        cast(int, fields[15]),
    )
    return CallLine(entry, cast(bool, is_before))


def _value_fields(value: StoredValue | None) -> tuple[object, object, object]:
    return (None, 0, None) if value is None else (value.raw, value.form, value.why)


def _value(fields: list[object]) -> StoredValue | None:
    raw, form, why = fields
    return None if raw is None else StoredValue(cast(bytes, raw), cast(int, form), cast("str | None", why))


def _state(value: object) -> OperationState:
    if value not in OPERATION_STATES:
        raise ValueError(f"{str(value)[:40]!r} is no state")
    return cast(OperationState, value)


def _choice(value: object) -> Choice:
    for choice in CHOICES:
        if value == choice:
            return choice
    raise ValueError(f"{str(value)[:40]!r} is no choice")
