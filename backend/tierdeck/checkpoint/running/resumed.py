"""What an agent gets when it goes on from a checkpoint, and what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.checkpoint import Checkpoint
from tierdeck.checkpoint.folder import Skipped
from tierdeck.checkpoint.kinds.loss import Loss
from tierdeck.checkpoint.running.question import Question
from tierdeck.checkpoint.running.spending import Spending

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Resumed:
    """A restored state.

    `questions` is what will be asked before calls are made again. `skipped` names newer checkpoints that were
    passed over, and why; `problems` what was wrong besides.

    Spec: SPEC-09.23
    """

    checkpoint: Checkpoint
    path: Path
    branch: str
    spending: Spending
    questions: tuple[Question, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def variables(self) -> Mapping[str, object]:
        """All variables that could be saved, by name."""
        return self.checkpoint.repl_state

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What could not be saved, or not as what it was."""
        return self.checkpoint.losses

    @property
    def note(self) -> str:
        """For the agent, in plain sentences; at most ten of each list."""
        found = self.checkpoint
        lines = [
            f"This session goes on from the checkpoint after turn {found.turn} ({self.path.name}), "
            f"with {_count(len(found.repl_state), 'variable')}."
        ]
        if found.origin is not None:
            lines.append(f"It was forked from session {found.origin.session_id[:80]}.")
        lines += _listed(
            "Not restored", [f"{loss.path}: {loss.reason}" for loss in _kind(self.losses, is_lost=True)]
        )
        lines += _listed(
            "Restored as a description only",
            [f"{loss.path}: {loss.type_name}" for loss in _kind(self.losses, is_lost=False)],
        )
        lines += _listed(
            "To be decided before it is done again",
            [f"{question.about.kind}: {question.why}" for question in self.questions],
        )
        lines += _listed("Passed over", [f"{file}: {why}" for file, why in self.skipped])
        return "\n".join([*lines, *self.problems])


def _kind(losses: tuple[Loss, ...], *, is_lost: bool) -> list[Loss]:
    return [loss for loss in losses if (loss.kind == "lost") is is_lost]


def _listed(head: str, items: list[str]) -> list[str]:
    if not items:
        return []
    more = [f"- and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else []
    return [f"{head}:", *(f"- {item}" for item in items[:_SHOWN]), *more]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
