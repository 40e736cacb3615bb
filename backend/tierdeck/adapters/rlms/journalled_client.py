"""A model client whose calls are made once: what the journal has is given again, not paid again."""

from __future__ import annotations

import copy
import threading
from typing import Any

from rlm.clients import BaseLM
from rlm.core.types import ModelUsageSummary, UsageSummary

from tierdeck.adapters.rlms.answer import Answer, answer_from
from tierdeck.adapters.rlms.model_calls import ModelCalls
from tierdeck.adapters.rlms.usage import Usage


class JournalledClient(BaseLM):  # type: ignore[misc]  # the package has no types
    """Another client, with a journal before it.

    Args:
        client: makes the calls that are due.
        usage: of the run that it belongs to.
    """

    def __init__(self, client: BaseLM, calls: ModelCalls, usage: Usage) -> None:
        super().__init__(client.model_name, timeout=client.timeout, sampling_args=client.sampling_args)
        self._client = client
        self._calls = calls
        self._usage = usage
        self._last = threading.local()

    def completion(self, prompt: str | list[dict[str, Any]]) -> str:
        """The model's text, now or as it was given before."""
        with self._calls.operation(self.model_name, prompt) as call:
            if call.is_due:
                client = self._for_one_call()
                call.result = _answered(client.completion(prompt), client)
        return self._taken(call.result)

    async def acompletion(self, prompt: str | list[dict[str, Any]]) -> str:
        """The same for a batch."""
        with self._calls.operation(self.model_name, prompt) as call:
            if call.is_due:
                client = self._for_one_call()
                call.result = _answered(await client.acompletion(prompt), client)
        return self._taken(call.result)

    def get_usage_summary(self) -> UsageSummary:
        """What the run has used, all its clients together, before a resume too."""
        return self._usage.summary()

    def get_last_usage(self) -> ModelUsageSummary:
        """What this thread's last call used."""
        answer: Answer | None = getattr(self._last, "answer", None)
        if answer is None:
            return ModelUsageSummary(0, 0, 0, None)
        return ModelUsageSummary(1, answer.input_tokens, answer.output_tokens, answer.cost)

    def _for_one_call(self) -> BaseLM:
        # The clients note what "the last call" used on themselves: beside other threads that is anybody's.
        return copy.copy(self._client)

    def _taken(self, result: object) -> str:
        answer = answer_from(result)
        self._last.answer = answer
        self._calls.book(answer)
        self._usage.add(self.model_name, answer)
        return answer.text


def _answered(text: object, client: BaseLM) -> dict[str, object]:
    used = client.get_last_usage()
    given = text if isinstance(text, str) else ""  # a model that says nothing gives None
    return Answer(given, used.total_input_tokens, used.total_output_tokens, used.total_cost).stored()
