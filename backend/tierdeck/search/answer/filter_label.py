"""A filter in force as the text that, typed, is that filter again. Pure.

Two can't be typed: a value with a quote in it (`tag:a"b` is read as `ab`), and a metadata key with `=` in it, which
ends at the first one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

from tierdeck.model import NodeFilter

_NO_KEY = re.compile(r'[\s:=<>"]')
_DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What a date can say: the years 1 to 9999.
_FIRST_MS = -62_135_596_800_000
_END_MS = 253_402_300_800_000


def value_label(key: str, sign: Literal[":", "="], value: str) -> str:
    """A key with its value, in quotes where it holds blanks; a value with a quote of its own can't be typed."""
    is_quoted = any(char.isspace() for char in value) and '"' not in value
    return f'{key}{sign}"{value}"' if is_quoted else f"{key}{sign}{value}"


def metadata_label(key: str, value: str) -> str:
    """A metadata pair; a key that can't stand behind `meta.` stands with its value."""
    is_plain = key and not _NO_KEY.search(key)
    return value_label(f"meta.{key}", "=", value) if is_plain else value_label("meta", ":", f"{key}={value}")


def time_label(key: Literal["since", "until"], at_ms: int) -> str:
    """A bound of time to the millisecond, UTC: a day where it is a whole one, which as an end is the day before.

    Beyond what a date can say, the nearest that it can.
    """
    at_ms = max(_FIRST_MS, min(at_ms, _END_MS if key == "until" else _END_MS - 1))
    day_ms = at_ms - _DAY_MS if key == "until" else at_ms
    if at_ms % _DAY_MS == 0 and day_ms >= _FIRST_MS:
        return f"{key}:{(_EPOCH + timedelta(milliseconds=day_ms)).date().isoformat()}"
    unit = "milliseconds" if at_ms % 1_000 else "seconds" if at_ms % 60_000 else "minutes"
    at = (_EPOCH + timedelta(milliseconds=at_ms)).replace(tzinfo=None)
    return f"{key}:{at.isoformat(timespec=unit)}"


def confidence_labels(f: NodeFilter, typed: NodeFilter) -> Iterator[str]:
    """The bounds of confidence that are in force and were not typed."""
    if f.min_confidence is not None and typed.min_confidence is None:
        yield _bound(">", f.min_confidence, lambda bound: math.nextafter(bound, -math.inf))
    if f.max_confidence is not None and typed.max_confidence is None:
        yield _bound("<", f.max_confidence, lambda bound: math.nextafter(bound, math.inf))


def _bound(sign: str, bound: float, beside: Callable[[float], float]) -> str:
    """A bound is inclusive; that of `conf>0.6` is the nearest number beyond 0.6."""
    strict, inclusive = _shortest(beside(bound)), _shortest(bound)
    is_strict = len(strict) < len(inclusive) and 0.0 <= beside(bound) <= 1.0
    return f"conf{sign}{strict}" if is_strict else f"conf{sign}={inclusive}"


def _shortest(number: float) -> str:
    """The shortest text that is read back as just this number."""
    return repr(float(number)).removesuffix(".0")
