"""One thing that happened to the demo store, to be played at its own time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Event:
    """What happens, and when. Of the same moment the lower `order` comes first.

    `reads_back` says that it looks at the store by a connection of its own: what came before must be committed.
    """

    at_ms: int
    order: int
    happen: Callable[[], object]
    reads_back: bool = False


def at_ms(day: float, now: int) -> int:
    """A moment of the data, in days from now, as milliseconds since the epoch."""
    return now + round(day * _DAY_MS)
