"""One thing at work in a thread, which says how far it is and stops when it is asked to."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from tierdeck_tui.view.line import Line, Piece, line

T = TypeVar("T")
OnProgress = Callable[[int, int], None]
ShouldStop = Callable[[], bool]
# The status line follows no faster than a person reads.
TELL_S = 0.1


class Job:
    """A job. Make one each time; `status` is what there is to say of it, from any thread.

    Args:
        words: what is done: "verify".
        show: shows the status; called on the event loop's thread. Empty when the job is over.
        progress_words: says `done` of `total`.
    """

    def __init__(self, words: str, show: Callable[[Line], None], progress_words: Callable[[int, int], str]) -> None:
        self.words = words
        self._show = show
        self._progress_words = progress_words
        self._stopped = threading.Event()
        self._told_at_s = 0.0

    def stop(self) -> None:
        """Ask it to stop."""
        self._stopped.set()
        self._show(line(f"{self.words}: stopping…"))

    def end(self) -> None:
        """Ask it to stop, and say no more."""
        self._stopped.set()

    async def run(self, do: Callable[[OnProgress, ShouldStop], T]) -> T:
        """Do it in a thread; gives what it gives and raises what it raises."""
        loop = asyncio.get_running_loop()
        self._show(line(f"{self.words}: at work… ", Piece("esc stops", "muted")))

        def tell(done: int, total: int) -> None:
            now_s = time.monotonic()
            if now_s - self._told_at_s >= TELL_S and not self._stopped.is_set():
                self._told_at_s = now_s
                loop.call_soon_threadsafe(self._tell, done, total)

        try:
            return await asyncio.to_thread(do, tell, self._stopped.is_set)
        finally:
            self._stopped.set()
            self._show(())

    def _tell(self, done: int, total: int) -> None:
        if not self._stopped.is_set():
            told = f"{self.words}: {self._progress_words(done, total)}"
            self._show(line(Piece(told, "strong"), Piece(" · esc stops", "muted")))
