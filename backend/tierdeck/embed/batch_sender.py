"""A batch of texts through a provider that may fail: waited for, tried again, halved till the bad one is alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierdeck.embed.embedder import Embedder
from tierdeck.embed.stoppable import run_stoppable, wait_stoppable
from tierdeck.errors import ProviderError, VectorRefusedError
from tierdeck.vectors.unit_vectors import unit_rows, unit_vector

MAX_WAIT_S = 120.0
_FIRST_WAIT_S = 0.5
_LONGEST_BACKOFF_S = 30.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a text has no vector. `is_permanent`: the same text would fare no better later."""

    message: str
    is_permanent: bool


# None: the provider was given up before the text was tried alone; nothing is known about it.
Outcome = NDArray[np.float32] | Refusal | None


def retry_delay_s(attempt: int, retry_after_s: float | None, jitter: float) -> float:
    """How long to wait after a failed attempt, in seconds.

    Args:
        attempt: 1 after the first failure.
        retry_after_s: what the provider asked for; it is waited out whole, and a little longer.
        jitter: 0 to 1; two indexers must not come back at the same moment.
    """
    backoff = min(_LONGEST_BACKOFF_S, _FIRST_WAIT_S * 2.0 ** (attempt - 1))
    if retry_after_s is not None:
        return retry_after_s + 0.1 * jitter * min(1.0, backoff)
    return backoff * (0.5 + 0.5 * jitter)


class BatchSender:
    """Sends batches and keeps what it learned about the provider.

    `rows_limit` is the largest batch it takes, once that is known. `is_down` says that it failed so often in a row
    that the next batch is not worth trying, and `last_error` what it said.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        max_attempts: int,
        should_stop: Callable[[], bool],
        sleep: Callable[[float], None],
        before_request: Callable[[], None],
    ) -> None:
        self._embedder = embedder
        self._max_attempts = max(1, max_attempts)
        self._should_stop = should_stop
        self._sleep = sleep
        self._before_request = before_request
        self._failures = 0
        self.rows_limit: int | None = None
        self.is_down = False
        self.last_error = ""

    def send(self, texts: Sequence[str]) -> list[Outcome]:
        """Each text's vector at unit length, or why it has none; in the order of the texts.

        Raises:
            ProviderError: no text would fare better (`stops_run`); nothing is known about any of them.
            StoppedError: stopped while waiting.
        """
        self._failures = 0
        # One bad text among n makes about log2(n) requests fail in a row; more of them, and it is the provider.
        return self._solve(list(texts), self._max_attempts, give_up_after=len(texts).bit_length() + 2)

    def _solve(self, texts: list[str], attempts: int, *, give_up_after: int) -> list[Outcome]:
        if self.is_down:
            return [None] * len(texts)
        try:
            return self._checked(self._call(texts, attempts), len(texts))
        except VectorRefusedError as e:
            self.last_error, is_permanent = e.message, True
        except ProviderError as e:
            if e.stops_run:
                raise
            self.last_error, is_permanent = e.message, not e.is_retryable
            self._failures += e.is_retryable
            self.is_down = self._failures > give_up_after
        if len(texts) == 1:
            return [Refusal(self.last_error, is_permanent)]
        return self._halved(texts, attempts if is_permanent else 1, is_permanent, give_up_after)

    def _halved(self, texts: list[str], attempts: int, is_permanent: bool, give_up_after: int) -> list[Outcome]:
        middle = (len(texts) + 1) // 2
        solved = [
            outcome
            for part in (texts[:middle], texts[middle:])
            for outcome in self._solve(part, attempts, give_up_after=give_up_after)
        ]
        if is_permanent and all(isinstance(outcome, np.ndarray) for outcome in solved):
            self.rows_limit = min(middle, self.rows_limit or middle)
        return solved

    def _call(self, texts: list[str], attempts: int) -> NDArray[np.float32]:
        """One request, tried again while the provider says it may work."""
        for attempt in range(1, attempts + 1):
            try:
                vectors = self._embed(texts)
            except ProviderError as e:
                if not e.is_retryable or attempt == attempts:
                    raise
                delay = retry_delay_s(attempt, e.retry_after_s, random.random())  # noqa: S311 - not for secrets
                if delay > MAX_WAIT_S:
                    raise ProviderError(
                        f"{e.message}; it asks to wait {delay:,.0f} s, the limit is {MAX_WAIT_S:g} s",
                        is_retryable=True,
                        stops_run=True,
                        hint="run `tierdeck embed` again later; it goes on where it stopped",
                    ) from e
                wait_stoppable(delay, self._should_stop, self._sleep)
            else:
                self._failures = 0
                return vectors
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        self._before_request()
        if not self._embedder.is_remote:
            return self._embedder.embed(texts)
        return run_stoppable(lambda: self._embedder.embed(texts), self._should_stop)

    def _checked(self, vectors: NDArray[np.float32], texts: int) -> list[Outcome]:
        if len(vectors) != texts:
            raise ProviderError(
                f"embed with {self._embedder.name}: {len(vectors)} vectors came for {texts} texts",
                is_retryable=False,
                stops_run=True,
            )
        if vectors.shape[1:] != (self._embedder.dimensions,):
            return [_refused(vector, self._embedder.dimensions) for vector in vectors]
        units, is_fit = unit_rows(vectors)
        return [
            unit if fit else _refused(vector, self._embedder.dimensions)
            for vector, unit, fit in zip(vectors, units, is_fit, strict=True)
        ]


def _refused(vector: NDArray[np.float32], dimensions: int) -> Refusal:
    try:
        unit_vector(vector, dimensions)
    except VectorRefusedError as e:
        return Refusal(e.message, is_permanent=True)
    raise AssertionError("unreachable: `unit_rows` found it unfit")
