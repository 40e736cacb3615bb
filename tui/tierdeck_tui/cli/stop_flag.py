"""Ctrl+C for work that can be stopped between two steps and goes on another time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopFlag:
    """Whether Ctrl+C was pressed."""

    def __init__(self) -> None:
        self.is_set = False

    def __call__(self) -> bool:
        return self.is_set


@contextmanager
def stop_flag() -> Iterator[StopFlag]:
    """A flag that the first Ctrl+C sets while the block runs; the second one interrupts as always."""
    flag = StopFlag()
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if flag.is_set:
            signal.default_int_handler(number, frame)
        flag.is_set = True

    try:
        signal.signal(signal.SIGINT, on_interrupt)
    except ValueError:  # not the main thread, as when a test runs the verb: then Ctrl+C is the main thread's
        yield flag
        return
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
