"""Waiting until what was asked for is on the screen."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot

# How long the cursor rests on a row of a screen before it is read about, in tests of the screens.
QUICK_REST_S = 0.01
READING = frozenset({"page", "search", "detail", "archive"})


async def settled(pilot: Pilot[None], *, pause_s: float = 0.0) -> None:
    """Wait for the workers that read for a list, a search or a pane, and for what they posted to be handled.

    Args:
        pause_s: how long a debounce or a rest of the cursor takes before a worker begins.
    """
    for _ in range(2):  # an answer may begin the next reading: a hit its detail, a jump its page
        await pilot.pause(pause_s or None)
        while any(worker.group in READING and not worker.is_finished for worker in pilot.app.workers):
            await asyncio.sleep(0.005)
        await pilot.pause()
