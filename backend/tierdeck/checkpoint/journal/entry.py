"""One call of a session as its journal has it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tierdeck.checkpoint.checkpoint import Operation, OperationState
from tierdeck.checkpoint.journal.stored_value import StoredValue
from tierdeck.checkpoint.limits import AGENT_LIMITS, Limits

Choice = Literal["run again", "done", "skip", "abort"]
CHOICES: tuple[Choice, ...] = ("run again", "done", "skip", "abort")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person or a policy said about a call of unknown outcome; `value` belongs to `done`.

    `seen` is the state that the call had then: when it is in another by the time this counts, it does not. It is
    not written down.
    """

    choice: Choice
    value: StoredValue | None = None
    by: str | None = None
    seen: OperationState | None = None


Decisions = Mapping[str, Decision]  # by the ids of the calls they are about
NO_DECISIONS: Decisions = {}


@dataclass(frozen=True, slots=True)
class Entry:
    """A call: planned, under way or over. Spec: SPEC-09.23

    `running` in a journal that nobody writes any more means that its outcome is unknown. `digest` is the same for
    the same call anywhere; `branch` is where it was made. `result` is what it gave when it is `done`, and the text
    of what went wrong when it `failed`. `starts` counts how often it was begun.
    """

    op_id: str
    kind: str
    state: OperationState
    turn: int
    has_side_effects: bool
    digest: str
    branch: str
    request: StoredValue
    result: StoredValue | None = None
    at_ns: int = 0
    starts: int = 0
    decision: Decision | None = None

    def operation(self, limits: Limits = AGENT_LIMITS) -> Operation:
        """The same as a checkpoint holds it, with its values.

        Raises:
            DamagedCheckpointError, CheckpointLimitError: a value of it is damaged, or larger than the limit.
        """
        return Operation(
            self.op_id,
            self.kind,
            self.state,
            self.turn,
            self.has_side_effects,
            self.request.value(limits),
            None if self.result is None else self.result.value(limits),
        )
