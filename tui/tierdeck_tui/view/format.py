"""Ages, times, sizes and counts as the console and the plain command line write them. Pure; the clock is given."""

from __future__ import annotations

from datetime import datetime

NONE = "–"
AGE_CELLS = 4

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3_600, 86_400, 31_557_600
_SIZES = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"))


def age(at_ms: int | None, now_ms: int) -> str:
    """How long ago, in at most four characters for anything within 999 years: `45s`, `3h`, `12d`, `4y`.

    A time in the future gets a `+`; an unknown one is `–`.
    """
    if at_ms is None:
        return NONE
    seconds = abs(now_ms - at_ms) // 1000
    sign = "+" if at_ms - now_ms >= 1000 else ""
    if seconds < _MINUTE:
        return f"{sign}{seconds}s"
    if seconds < _HOUR:
        return f"{sign}{seconds // _MINUTE}m"
    if seconds < 2 * _DAY:
        return f"{sign}{seconds // _HOUR}h"
    if seconds < 2 * _YEAR:
        return f"{sign}{seconds // _DAY}d"
    return f"{sign}{seconds // _YEAR}y"


def local_time(at_ms: int | None) -> str:
    """The moment in this machine's time zone with its offset: `2026-03-04 17:05:12 +01:00`.

    An unknown moment is `–`; one that no calendar holds is shown as its number, never left out.
    """
    if at_ms is None:
        return NONE
    try:
        when = datetime.fromtimestamp(at_ms / 1000).astimezone()
    except (OverflowError, OSError, ValueError):
        return f"{at_ms} ms"
    offset = when.strftime("%z")
    return f"{when:%Y-%m-%d %H:%M:%S} {offset[:3]}:{offset[3:5]}"


def size(size_bytes: int) -> str:
    """A number of bytes with one digit after the point: `812 B`, `64.0 kB`, `1.4 MB`."""
    for unit_bytes, name in _SIZES:
        if size_bytes >= unit_bytes:
            return f"{size_bytes / unit_bytes:.1f} {name}"
    return f"{size_bytes} B"


def count(number: int) -> str:
    """A whole number with its thousands set apart: `1,000,000`."""
    return f"{number:,}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 memory`, `3 memories`; without `many` an s is added."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def score(value: float) -> str:
    """A score from 0 to 1 in five characters: `0.772`."""
    return f"{value:.3f}"


def short_number(value: float) -> str:
    """A number with at most three digits after the point and no idle zeros: `0.4`, `0.91`, `0`."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def percent(value: float) -> str:
    """A share from 0 to 1 in whole percent: `90%`."""
    return f"{value * 100:.0f}%"
