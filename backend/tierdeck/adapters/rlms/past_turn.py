"""A turn that is over, as the trajectory of a checkpoint keeps it: enough to go through it without running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rlm.core.types import CodeBlock, REPLResult, RLMIteration

from tierdeck.errors import DamagedCheckpointError

_T = TypeVar("_T")
_SHOWN = (str, int, float, bool, list, dict, tuple)  # whose names the package tells the model after a cell


@dataclass(frozen=True, slots=True)
class PastCell:
    """A cell, what it printed, and the names that the model was told of. `final_answer` ends the run."""

    code: str
    stdout: str
    stderr: str
    shown: tuple[str, ...]
    final_answer: str | None = None
    seconds: float = 0.0
    sub_calls: int = 0


@dataclass(frozen=True, slots=True)
class PastTurn:
    """What the model said, and the cells that were run for it."""

    turn: int
    response: str
    cells: tuple[PastCell, ...]
    seconds: float = 0.0

    @classmethod
    def of(cls, turn: int, iteration: RLMIteration) -> PastTurn:
        """From a turn that was just made; of variables only the names are kept, of sub-calls only their number."""
        cells = tuple(_past_cell(block) for block in iteration.code_blocks)
        return cls(turn, iteration.response, cells, iteration.iteration_time or 0.0)

    @classmethod
    def from_event(cls, event: object) -> PastTurn:
        """From the trajectory.

        Raises:
            DamagedCheckpointError: it is no event of ours; names what is wrong.
        """
        cells = tuple(
            PastCell(
                part(cell, "code", str),
                part(cell, "stdout", str),
                part(cell, "stderr", str),
                tuple(str(name) for name in part(cell, "shown", list)),
                part(cell, "final_answer", str) if part(cell, "is_final", bool) else None,
                part(cell, "seconds", float),
                part(cell, "sub_calls", int),
            )
            for cell in part(event, "cells", list)
        )
        turn, response = part(event, "turn", int), part(event, "response", str)
        return cls(turn, response, cells, part(event, "seconds", float))

    def event(self) -> dict[str, object]:
        """As plain values, for the trajectory."""
        return {
            "turn": self.turn,
            "response": self.response,
            "cells": [
                {
                    "code": cell.code,
                    "stdout": cell.stdout,
                    "stderr": cell.stderr,
                    "shown": list(cell.shown),
                    "is_final": cell.final_answer is not None,
                    "final_answer": cell.final_answer or "",
                    "seconds": cell.seconds,
                    "sub_calls": cell.sub_calls,
                }
                for cell in self.cells
            ],
            "seconds": self.seconds,
        }

    def iteration(self, prompt: Sequence[object]) -> RLMIteration:
        """As the package has it, so that it comes to the same messages and counts."""
        blocks = [
            CodeBlock(
                cell.code,
                REPLResult(
                    cell.stdout,
                    cell.stderr,
                    dict.fromkeys(cell.shown, ""),
                    execution_time=cell.seconds,
                    final_answer=cell.final_answer,
                ),
            )
            for cell in self.cells
        ]
        return RLMIteration(prompt, self.response, blocks, iteration_time=self.seconds)


def part(whole: object, key: str, kind: type[_T]) -> _T:
    """What stands under a key of a record that was read.

    Raises:
        DamagedCheckpointError: there is none, or it is of another type.
    """
    found = whole.get(key) if isinstance(whole, Mapping) else None
    if type(found) is not kind:
        raise DamagedCheckpointError(
            f"go on with a run of rlms: its record has no {key!r} of type {kind.__name__}",
            hint="go on from another checkpoint",
        )
    return found


def _past_cell(block: CodeBlock) -> PastCell:
    result = block.result
    shown = tuple(name for name, value in result.locals.items() if isinstance(value, _SHOWN) and name[:1] != "_")
    return PastCell(
        block.code,
        result.stdout,
        result.stderr,
        shown,
        result.final_answer,
        result.execution_time or 0.0,
        len(result.rlm_calls),
    )
