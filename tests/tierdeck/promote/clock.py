"""A clock that a test moves, and a store that goes by it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tierdeck.store import Store, open_store

NOON = 1_796_040_000_000  # 2026-11-30


@dataclass(slots=True)
class Clock:
    """Gives `now`, in milliseconds since the epoch."""

    now: int = NOON

    def __call__(self) -> int:
        return self.now


def clocked(path: Path, clock: Clock) -> Store:
    """A store of ours that goes by the clock; made where there is none."""
    return open_store(path, create=True, clock=clock)
