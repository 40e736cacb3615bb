"""A row of small bars for counts by day. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

_BARS = "▁▂▃▄▅▆▇█"
_NOTHING = "·"


def sparkline(by_day: Sequence[tuple[str, int]], cells: int) -> str:
    """Bars from the first day to the last, days without anything as `·`; several days a cell where they don't fit.

    Args:
        by_day: ("2026-11-30", how many) in order; days left out count 0; what is no day is left out.
        cells: at most this many cells.
    """
    counts = _spread(by_day)
    if not counts or cells <= 0:
        return ""
    width = min(cells, len(counts))
    sums = [0] * width
    for at, value in enumerate(counts):
        sums[at * width // len(counts)] += value
    highest = max(sums)
    return "".join(_BARS[(value * len(_BARS) - 1) // highest] if value > 0 else _NOTHING for value in sums)


def _spread(by_day: Sequence[tuple[str, int]]) -> list[int]:
    known: dict[date, int] = {}
    for day, value in by_day:
        try:
            known[date.fromisoformat(day)] = value
        except ValueError:
            continue
    if not known:
        return []
    first, days = min(known), (max(known) - min(known)).days + 1
    if days > 3_660:  # a stray year would make a million empty days: then only the days that have something
        return [known[day] for day in sorted(known)]
    return [known.get(first + timedelta(days=n), 0) for n in range(days)]
