"""Times as other tools write them, read into whole milliseconds since the epoch, UTC. Pure."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

# The end of the year 9999 in each unit. As the next smaller unit each bound is January 1978, before which no agent
# remembered anything, so a clock that jumped far ahead is read as what it says and not as a time long past.
SECONDS_BELOW = 253_402_300_800
MILLISECONDS_BELOW = 253_402_300_800_000
MICROSECONDS_BELOW = 253_402_300_800_000_000
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")


def now_ms() -> int:
    """The clock, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def parse_time_ms(value: object) -> int | None:
    """Read a time that another tool wrote; None when it can't be read as one.

    Numbers are seconds, milliseconds or microseconds, the greatest unit in which they lie before the year 10000;
    text may be such a number or ISO 8601, where a missing offset means UTC.
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

    A time before January 1978 has fewer milliseconds than today has seconds, and is written in seconds.

    Args:
        time_ms: before the year 10000, before and after the epoch.
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
