"""Waiting for what another process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable

_MAX_S = 60.0


def until(is_so: Callable[[], bool]) -> None:
    """Return once it is so; a minute without it is a failure."""
    end = time.monotonic() + _MAX_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)
