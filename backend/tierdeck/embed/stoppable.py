"""Work that may take long, given up as soon as somebody wants to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from tierdeck.errors import StoppedError

T = TypeVar("T")
POLL_S = 0.05


def run_stoppable(work: Callable[[], T], should_stop: Callable[[], bool]) -> T:
    """The result of `work`, run in a thread of its own; its error is raised here.

    Raises:
        StoppedError: `should_stop` said so first; the work goes on to its end alone and its result is dropped.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    is_done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as e:  # noqa: BLE001 - handed to the caller's thread
            errors.append(e)
        is_done.set()

    # A daemon: a provider that doesn't answer must not keep the program from ending.
    threading.Thread(target=run, name="tierdeck-provider-call", daemon=True).start()
    while not is_done.wait(POLL_S):
        if should_stop():
            raise StoppedError("embed: stopped")
    if errors:
        raise errors[0]
    return results[0]


def wait_stoppable(seconds: float, should_stop: Callable[[], bool], sleep: Callable[[float], None]) -> None:
    """Wait, in short steps; raises `StoppedError` as soon as `should_stop` says so."""
    left = seconds
    while left > 0:
        if should_stop():
            raise StoppedError("embed: stopped")
        step = min(POLL_S, left)
        sleep(step)
        left -= step
