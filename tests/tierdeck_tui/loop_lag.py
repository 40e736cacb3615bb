"""How long the event loop stood still, measured from inside it."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

STEP_S = 0.005


class LoopLag:
    """While the block runs, a task wakes every five milliseconds; `worst_ms` is by how much it woke late at worst.

    Use it around what is pressed in a test or a benchmark; on a busy machine the figure holds other programs' time
    too, so tests compare it with another run or with seconds, benchmarks print it.
    """

    def __init__(self) -> None:
        self.worst_ms = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LoopLag:
        self._task = asyncio.create_task(self._measure())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        await asyncio.sleep(2 * STEP_S)  # what still stands in the way now is seen too
        self._task.cancel()

    async def _measure(self) -> None:
        before_s = time.perf_counter()
        while True:
            await asyncio.sleep(STEP_S)
            now_s = time.perf_counter()
            self.worst_ms = max(self.worst_ms, (now_s - before_s - STEP_S) * 1000)
            before_s = now_s
