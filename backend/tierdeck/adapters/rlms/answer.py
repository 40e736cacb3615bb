"""What a model call gave, as the journal keeps it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The text, and what it took. `cost` is in US dollars; None is unknown."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def stored(self) -> dict[str, object]:
        """As plain values."""
        return {"text": self.text, "input": self.input_tokens, "output": self.output_tokens, "cost": self.cost}


def answer_from(result: object) -> Answer:
    """From the journal, where a person may have put a text alone, or nothing for a call to be skipped."""
    if not isinstance(result, Mapping):
        return Answer(result if isinstance(result, str) else "", cost=0.0)
    text, cost = result.get("text"), result.get("cost")
    return Answer(
        text if isinstance(text, str) else "",
        whole(result.get("input")),
        whole(result.get("output")),
        float(cost) if isinstance(cost, int | float) else None,
    )


def whole(value: object) -> int:
    """A count that was read; 0 for anything else."""
    return value if isinstance(value, int) else 0
