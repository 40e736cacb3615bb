"""Times as an operator types them: `7d` back from now, `14d` on from now, or a day. Pure; the clock is given."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

from tierdeck.model import NodeFilter
from tierdeck.search.query.typed_filter import narrow
from tierdeck.times import parse_time_ms

_UNIT_MS = {"h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SPAN = re.compile(r"(\d{1,5})([hdw])")


def past_time_ms(bound: Literal["since", "until"], text: str, now_ms: int) -> int | None:
    """What a search's filter of that name means by the same text; None for an empty one.

    Raises:
        ValueError: it is neither an age nor a day; the text says what it may be.
    """
    if not text.strip():
        return None
    found = narrow(NodeFilter(), bound, ":", text.strip(), now_ms)
    return found.since_ms if bound == "since" else found.until_ms


def future_time_ms(text: str, now_ms: int) -> int | None:
    """A moment after now: `14d` on from now, or the beginning of a day (UTC); None for an empty text.

    Raises:
        ValueError: it is neither, or not after now; the text says what it may be.
    """
    text = text.strip().lower()
    if not text:
        return None
    span = _SPAN.fullmatch(text)
    at = now_ms + int(span[1]) * _UNIT_MS[span[2]] if span else parse_time_ms(text) if "-" in text else None
    if at is None:
        day = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        raise ValueError(f"takes a span or a day after today: 14d, 12h, 2w, or as {day} is written")
    if at <= now_ms:
        raise ValueError("takes a moment after now")
    return at
