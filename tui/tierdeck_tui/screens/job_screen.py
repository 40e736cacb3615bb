"""A screen with one thing at work at a time, in a thread: its progress, its stop at `esc`, its end with the app."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.screens.job import Job, OnProgress, ShouldStop
from tierdeck_tui.view.line import Line

T = TypeVar("T")


class JobScreen(FrameScreen):
    """Such a screen. Subclasses show what is at work."""

    _job: Job | None = None

    def show_job(self, status: Line) -> None:
        """Show what is at work; empty when nothing is any more."""
        raise NotImplementedError

    def stop_job(self) -> bool:
        """Ask what is at work to stop; False when nothing is."""
        if self._job is None:
            return False
        self._job.stop()
        return True

    def on_unmount(self) -> None:
        """The app does not end before its threads do."""
        if self._job is not None:
            self._job.end()

    def is_busy(self) -> bool:
        """Whether something is at work; says so."""
        if self._job is not None:
            self.notify(f"{self._job.words} is still at work; esc stops it", severity="warning")
        return self._job is not None

    async def at_work(
        self, words: str, do: Callable[[OnProgress, ShouldStop], T], progress_words: Callable[[int, int], str]
    ) -> T:
        """Do it in a thread, with its progress on the screen; gives what it gives and raises what it raises.

        Args:
            words: what is done: "verify".
            progress_words: says `done` of `total`.
        """
        self._job = Job(words, self.show_job, progress_words)
        try:
            return await self._job.run(do)
        finally:
            self._job = None
