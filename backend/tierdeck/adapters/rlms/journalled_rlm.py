"""An RLM whose model calls, and those of all it starts, go through the session's journal."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rlm import RLM
from rlm.clients import get_client
from rlm.core.lm_handler import LMHandler
from rlm.core.types import RLMChatCompletion
from rlm.environments import BaseEnv

from tierdeck.adapters.rlms.journalled_client import JournalledClient
from tierdeck.adapters.rlms.model_calls import ModelCalls
from tierdeck.adapters.rlms.rebound import rebound
from tierdeck.adapters.rlms.usage import Usage


class JournalledRLM(RLM):  # type: ignore[misc]  # the package has no types
    """A run, or one that it has started: that is saved by nobody, and after a crash it is gone through again.

    Args:
        calls: where its model calls are made.
        settings: as `RLM` takes them.
    """

    def __init__(self, calls: ModelCalls, **settings: Any) -> None:
        super().__init__(**settings)
        self._calls = calls
        self._usage = Usage()

    @contextmanager
    def _spawn_completion_context(self, prompt: Any) -> Iterator[tuple[LMHandler, BaseEnv]]:
        with super()._spawn_completion_context(prompt) as (handler, environment):
            self._put_journal_before(handler)
            yield handler, environment

    def _put_journal_before(self, handler: LMHandler) -> None:
        # The handler holds the same client under several names.
        made: dict[int, JournalledClient] = {}
        for client in (handler.default_client, handler.other_backend_client, *handler.clients.values()):
            if client is not None and id(client) not in made:
                made[id(client)] = JournalledClient(client, self._calls, self._usage)
        handler.default_client = made[id(handler.default_client)]
        handler.other_backend_client = made.get(id(handler.other_backend_client))
        handler.clients = {name: made[id(client)] for name, client in handler.clients.items()}

    def _fallback_answer(self, message: Any) -> str:
        return self._lone_client(self.backend, self.backend_kwargs).completion(message)

    def _subcall(self, prompt: str, model: str | None = None) -> RLMChatCompletion:
        # The method names the class of the child and the maker of clients, so that no override reaches them.
        child = functools.partial(JournalledRLM, self._calls)
        return rebound(RLM._subcall, RLM=child, get_client=self._lone_client)(self, prompt, model)

    def _lone_client(self, backend: str, settings: dict[str, Any]) -> JournalledClient:
        """For one call beside the run: the package does not count it for the run's limits."""
        return JournalledClient(get_client(backend, settings), self._calls, Usage())
