"""What the calls of one run have used, by model: `rlms` keeps its limits by it."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from rlm.core.types import ModelUsageSummary, UsageSummary

from tierdeck.adapters.rlms.answer import Answer, whole


class Usage:
    """An account by model. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[str, ModelUsageSummary] = {}

    def add(self, model: str, answer: Answer) -> None:
        """One call more. A total of costs is of those that are known, as the package has it."""
        with self._lock:
            before = self._totals.get(model, ModelUsageSummary(0, 0, 0, None))
            known = [cost for cost in (before.total_cost, answer.cost) if cost is not None]
            self._totals[model] = ModelUsageSummary(
                before.total_calls + 1,
                before.total_input_tokens + answer.input_tokens,
                before.total_output_tokens + answer.output_tokens,
                sum(known) if known else None,
            )

    def summary(self) -> UsageSummary:
        """As the package tells it."""
        with self._lock:
            return UsageSummary(dict(self._totals))

    def stored(self) -> dict[str, object]:
        """As plain values."""
        with self._lock:
            return {
                model: [each.total_calls, each.total_input_tokens, each.total_output_tokens, each.total_cost]
                for model, each in self._totals.items()
            }

    def take_up(self, stored: Mapping[str, object]) -> None:
        """Go on from what was stored; what is not as it should be is left out."""
        for model, found in stored.items():
            if isinstance(found, list) and len(found) == 4:
                calls, read, written, cost = found
                known = float(cost) if isinstance(cost, int | float) else None
                self._totals[model] = ModelUsageSummary(whole(calls), whole(read), whole(written), known)
