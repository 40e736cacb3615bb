"""Times as other tools write them, read into whole milliseconds since the epoch, UTC. Pure."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

SECONDS_BELOW = 100_000_000_000  # 1e11: year 5138 in seconds, 1973 in milliseconds
MILLISECONDS_BELOW = 100_000_000_000_000  # 1e14
MICROSECONDS_BELOW = 100_000_000_000_000_000  # 1e17
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")


def now_ms() -> int:
    """The clock, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def parse_time_ms(value: object) -> int | None:
    """Read a time that another tool wrote; None when it can't be read as one.

    Numbers below 1e11 are seconds, below 1e14 milliseconds, below 1e17 microseconds; text may be such a number
    or ISO 8601, where a missing offset means UTC.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _from_number(value)
    if isinstance(value, str):
        return _from_text(value.strip())
    return None


def stored_time(time_ms: int) -> int | float:
    """What to write into a time column so that `parse_time_ms` reads it back exactly.

    A time before March 1973 has fewer milliseconds than today has seconds, and is written in seconds.

    Args:
        time_ms: below 1e14 (the year 5138), before and after the epoch.
    """
    return time_ms if abs(time_ms) >= SECONDS_BELOW else time_ms / 1000


def _from_number(number: int | float) -> int | None:
    size = abs(number)
    if size != size or size >= MICROSECONDS_BELOW:  # NaN, or beyond any unit
        return None
    if size < SECONDS_BELOW:
        return round(number * 1000)
    if size < MILLISECONDS_BELOW:
        return round(number)
    return round(number / 1000)


def _from_text(text: str) -> int | None:
    if _NUMBER.fullmatch(text):
        return _from_number(float(text))
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    try:
        return round(when.timestamp() * 1000)
    except (OverflowError, ValueError):
        return None
