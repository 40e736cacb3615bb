"""Waiting until what was asked for is on the screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from textual.pilot import Pilot

from tierdeck_tui.app import READING

# How long the cursor rests on a row of a screen before it is read about, in tests of the screens.
QUICK_REST_S = 0.01
_MAX_S = 60.0


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


async def until(pilot: Pilot[None], is_so: Callable[[], bool]) -> None:
    """Return once it is so, while the app goes on; a minute without it is a failure that shows the screen."""
    end = time.monotonic() + _MAX_S
    while not is_so():
        assert time.monotonic() < end, "it never came:\n" + _painted(pilot)
        await asyncio.sleep(0.01)
        await pilot.pause()


def _painted(pilot: Pilot[None]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())
