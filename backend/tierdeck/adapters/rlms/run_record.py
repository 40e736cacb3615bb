"""What a checkpoint of this adapter holds besides variables and messages, and how it is read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tierdeck.adapters.rlms.past_turn import PastTurn, part
from tierdeck.checkpoint import Checkpoint
from tierdeck.errors import ConflictError, DamagedCheckpointError

Messages = list[dict[str, Any]]

_KEY = "rlms"
_DEFAULT_ANSWER = "default_answer"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as far as it has come.

    Args:
        prompt_digest: of what the run was asked; another prompt can't go on with it.
        turns: all that are over, in order.
        default_answer: what the model gave when its turns were used up.
        compactions: how often the messages were compacted.
        usage: what it has used, by model.
        notes: what the agent was told after restores.
        order: the variables' names as they stood.
        files: in its working folder, which is not saved.
    """

    prompt_digest: str
    turns: tuple[PastTurn, ...] = ()
    default_answer: str | None = None
    compactions: int = 0
    usage: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """In turns of the session."""
        return len(self.turns) + (self.default_answer is not None)

    @property
    def cells(self) -> list[str]:
        """The texts that were run, in order."""
        return [cell.code for turn in self.turns for cell in turn.cells]

    def trajectory(self) -> list[object]:
        """For the checkpoint."""
        events: list[object] = [turn.event() for turn in self.turns]
        if self.default_answer is not None:
            events.append({_DEFAULT_ANSWER: self.default_answer})
        return events

    def working_memory(self) -> dict[str, object]:
        """For the checkpoint."""
        record = {
            "prompt": self.prompt_digest,
            "compactions": self.compactions,
            "usage": dict(self.usage),
            "notes": list(self.notes),
            "order": list(self.order),
            "files": list(self.files),
        }
        return {_KEY: record}

    @classmethod
    def read(cls, checkpoint: Checkpoint) -> RunRecord:
        """From a checkpoint.

        Raises:
            ConflictError: something else has saved it.
            DamagedCheckpointError: the record is not what this adapter writes.
        """
        record = checkpoint.working_memory.get(_KEY)
        if record is None:
            raise ConflictError(
                f"go on with session {checkpoint.session_id[:80]}: its checkpoint is of no run of rlms",
                hint="go on with the program that saved it",
            )
        events = list(checkpoint.trajectory_events)
        default = events.pop() if events and _is_default(events[-1]) else None
        return cls(
            part(record, "prompt", str),
            tuple(PastTurn.from_event(event) for event in events),
            None if default is None else part(default, _DEFAULT_ANSWER, str),
            part(record, "compactions", int),
            {str(model): found for model, found in part(record, "usage", dict).items()},
            tuple(str(note) for note in part(record, "notes", list)),
            tuple(str(name) for name in part(record, "order", list)),
            tuple(str(name) for name in part(record, "files", list)),
        )


def messages_of(checkpoint: Checkpoint) -> Messages:
    """Its messages.

    Raises:
        DamagedCheckpointError: one of them is none.
    """
    found = [message for message in checkpoint.messages if isinstance(message, dict)]
    if len(found) != len(checkpoint.messages):
        raise DamagedCheckpointError(
            f"go on with a run of rlms: {len(checkpoint.messages) - len(found)} of its messages are none",
            hint="go on from another checkpoint",
        )
    return found


def _is_default(event: object) -> bool:
    return isinstance(event, Mapping) and _DEFAULT_ANSWER in event
