"""What was chosen about calls before a session goes on; all of it is checked before anything is written. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from tierdeck.checkpoint.checkpoint import OperationState
from tierdeck.checkpoint.folder.requested_decision import MAX_REQUESTED, RequestedDecision
from tierdeck.checkpoint.folder.requests import Request
from tierdeck.checkpoint.journal import CHOICES, Choice, Decision, Decisions, StoredValue
from tierdeck.checkpoint.limits import MB
from tierdeck.checkpoint.running.question import OpenOperation
from tierdeck.errors import ConflictError, InvalidValueError, NotFoundError, TierdeckError

MAX_DECIDED_BYTES = 1 * MB  # of a value: it travels in a request, as text


def check_decisions(decisions: Decisions, found: Iterable[OpenOperation], doing: str) -> None:
    """Refuse choices that can't be kept or are about nothing.

    Args:
        found: the operations that can be decided about.
        doing: what fails then, as the message begins.

    Raises:
        NotFoundError: an id is of none of them.
        InvalidValueError: a choice is none, or its value can't be kept as it is: names the operation.
        ConflictError: an operation is in another state than when it was decided about.
    """
    if len(decisions) > MAX_REQUESTED:
        raise InvalidValueError(f"{doing}: {len(decisions):,} operations decided, at most {MAX_REQUESTED:,} can be")
    known = {each.entry.op_id: each for each in found}
    for op_id, decision in decisions.items():
        problem = _problem_with(op_id, decision, known.get(op_id), doing)
        if problem is not None:
            raise problem


def requested_decisions(request: Request, found: Iterable[OpenOperation]) -> tuple[Decisions, tuple[str, ...]]:
    """The decisions that came with a request and still hold; and why the others do not, each in a sentence.

    The agent has gone on since they were made: what was under way then may be done by now, and to make it again is
    not what was meant. Such a call is asked about.
    """
    known = {each.entry.op_id: each for each in found}
    kept: dict[str, Decision] = {}
    left: list[str] = []
    for asked in request.decisions:
        decision = _as_decision(asked)
        try:
            problem = _problem_with(asked.op_id, decision, known.get(asked.op_id), "restore checkpoint")
        except InvalidValueError as e:
            problem = e
        if problem is None:
            kept[asked.op_id] = decision
        else:
            left.append(f"{problem.message}; it is asked about")
    return kept, tuple(left)


def _problem_with(op_id: str, decision: Decision, found: OpenOperation | None, doing: str) -> TierdeckError | None:
    """Why this choice can't be kept; None when it can. One that is none is raised."""
    _check_choice(op_id, decision, doing)
    about = f"{doing}: operation {op_id[:40]}"
    if found is None:
        return NotFoundError(
            f"{about} is not open there", hint="`tierdeck checkpoint operations` lists those that are"
        )
    if decision.seen is not None and decision.seen != found.entry.state:
        return ConflictError(
            f"{about} ({found.entry.kind[:80]}) is {found.entry.state} by now; it was decided about when it was "
            f"{decision.seen}",
            hint="look at it again",
        )
    return None


def _check_choice(op_id: str, decision: Decision, doing: str) -> None:
    about = f"{doing}: operation {op_id[:40]}"
    if decision.choice not in CHOICES:
        raise InvalidValueError(
            f"{about}: {str(decision.choice)[:40]!r} is no choice", hint=f"choose one of: {', '.join(CHOICES)}"
        )
    value = decision.value
    if value is None:
        return
    if decision.choice != "done":
        raise InvalidValueError(f"{about}: a value goes with `done`, not with `{decision.choice}`")
    if value.why is not None:
        raise InvalidValueError(f"{about}: its value can't be kept: {value.why}")
    if len(value.raw) > MAX_DECIDED_BYTES:
        raise InvalidValueError(
            f"{about}: its value takes {len(value.raw):,} bytes, at most {MAX_DECIDED_BYTES:,} are kept"
        )


def _as_decision(asked: RequestedDecision) -> Decision:
    value = None if asked.value is None else StoredValue(asked.value, asked.form)
    # Choice and state are texts from a file: what is none of them is refused where the decision is checked.
    return Decision(cast(Choice, asked.choice), value, asked.by, cast("OperationState | None", asked.seen))
