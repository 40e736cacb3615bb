"""Every model call of a run and of all it starts: through the session's journal, and into the turn's account."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from tierdeck.adapters.rlms.answer import Answer
from tierdeck.checkpoint.running import Call
from tierdeck.session import Session


class ModelCalls:
    """Where calls are made. Safe to use from several threads.

    `notes` are texts that were put among the messages after a restore: a call is the same with and without them.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.notes: list[str] = []
        self._lock = threading.Lock()
        self._tokens = 0
        self._cost: float | None = 0.0

    def operation(self, model: str, prompt: object) -> Call:
        """A call that is not made yet."""
        messages = [each for each in prompt if not self._is_note(each)] if isinstance(prompt, list) else prompt
        return self._session.operation("model", [model, messages], has_side_effects=False)

    def book(self, answer: Answer) -> None:
        """A call was made, or given again, in this turn."""
        with self._lock:
            self._tokens += answer.input_tokens + answer.output_tokens
            self._cost = None if self._cost is None or answer.cost is None else self._cost + answer.cost

    def take_turn(self) -> tuple[float | None, int]:
        """Cost and tokens since this was asked last."""
        with self._lock:
            taken = self._cost, self._tokens
            self._cost, self._tokens = 0.0, 0
            return taken

    def _is_note(self, message: object) -> bool:
        return bool(self.notes) and isinstance(message, Mapping) and message.get("content") in self.notes
