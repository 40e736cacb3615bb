"""One typed filter (`tier:longterm`, `conf>0.6`, `since:7d`) to a narrower NodeFilter. Pure.

A value that the key can't take is no error: the caller reads the piece as words and says why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from tierdeck.model import NodeFilter, NodeType, Tier
from tierdeck.times import parse_time_ms

_UNIT_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_AGE = re.compile(r"(\d{1,6})([mhdw])")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*")

MAX_VALUE_CHARS = 1_000
MAX_METADATA_PAIRS = 16  # SQLite refuses conditions that are nested too deep
KEYS = ("tier", "type", "conf", "session", "project", "tag", "since", "until", "is", "meta")


class UnreadableValueError(ValueError):
    """The key is known, the value is none that it takes; the text says which it takes."""


def narrow(base: NodeFilter, key: str, operator: str, value: str, now_ms: int) -> NodeFilter:
    """The filter with one typed condition more; tiers and types add up, of other keys the last one holds.

    Args:
        key: one of `KEYS`, or `meta.<name>`.
        operator: `:`, `=`, `>`, `>=`, `<` or `<=`.
        now_ms: the clock that `7d` counts back from.

    Raises:
        UnreadableValueError: the key does not take this operator or value.
    """
    if not value or len(value) > MAX_VALUE_CHARS:
        raise UnreadableValueError(f"takes 1 to {MAX_VALUE_CHARS:,} characters")
    if key == "conf":
        return _narrow_confidence(base, operator, value)
    if key == "meta" or key.startswith("meta."):
        return _narrow_metadata(base, key, operator, value)
    if operator != ":":
        raise UnreadableValueError(f"is written {key}:…")
    if key == "since":
        return replace(base, since_ms=_time(value, now_ms, is_end=False))
    if key == "until":
        return replace(base, until_ms=_time(value, now_ms, is_end=True))
    return _COLON_KEYS[key](base, value)


def _narrow_confidence(base: NodeFilter, operator: str, value: str) -> NodeFilter:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if operator in (":", "=") or not 0.0 <= number <= 1.0:
        raise UnreadableValueError("is compared with a number from 0 to 1: conf>0.6")
    # NodeFilter's bounds are inclusive; the nearest float beyond makes a strict one.
    if operator.startswith(">"):
        return replace(base, min_confidence=number if operator == ">=" else math.nextafter(number, math.inf))
    return replace(base, max_confidence=number if operator == "<=" else math.nextafter(number, -math.inf))


def _narrow_metadata(base: NodeFilter, key: str, operator: str, value: str) -> NodeFilter:
    if key == "meta":
        name, equals, wanted = value.partition("=")
        if operator != ":" or not equals:
            raise UnreadableValueError("is written meta.key=value or meta:key=value")
    else:
        name, wanted = key.removeprefix("meta."), value
        if operator not in (":", "="):
            raise UnreadableValueError("is written meta.key=value")
    if not name or not wanted:
        raise UnreadableValueError("needs a key and a value: meta.key=value")
    if (name, wanted) in base.metadata:
        return base
    if len(base.metadata) >= MAX_METADATA_PAIRS:
        raise UnreadableValueError(f"takes at most {MAX_METADATA_PAIRS} pairs")
    return replace(base, metadata=(*base.metadata, (name, wanted)))


def _tier(base: NodeFilter, value: str) -> NodeFilter:
    try:
        tiers = {Tier(v.lower()) for v in value.split(",")}
    except ValueError as e:
        raise UnreadableValueError(f"takes {', '.join(Tier)}") from e
    return replace(base, tiers=base.tiers | tiers)


def _type(base: NodeFilter, value: str) -> NodeFilter:
    try:
        types = {NodeType(v.lower()) for v in value.split(",")}
    except ValueError as e:
        raise UnreadableValueError(f"takes {', '.join(NodeType)}") from e
    return replace(base, types=base.types | types)


def _is(base: NodeFilter, value: str) -> NodeFilter:
    if value.lower() != "archived":
        raise UnreadableValueError("takes archived")
    return replace(base, include_archived=True)


def _time(value: str, now_ms: int, *, is_end: bool) -> int:
    """A time or an age. A bare day means its beginning (UTC); as an end, which is exclusive, that of the next."""
    age = _AGE.fullmatch(value.lower())
    if age:
        return now_ms - int(age[1]) * _UNIT_MS[age[2]]
    if value.lower() in ("today", "yesterday"):
        day = now_ms // _UNIT_MS["d"] - (value.lower() == "yesterday")
        return (day + is_end) * _UNIT_MS["d"]
    at = parse_time_ms(value) if _DAY.fullmatch(value) or _TIME.fullmatch(value) else None
    if at is None:
        today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        raise UnreadableValueError(f"takes an age or a day: 7d, 12h, 2w, {today}")
    return at + _UNIT_MS["d"] if is_end and _DAY.fullmatch(value) else at


_COLON_KEYS: dict[str, Callable[[NodeFilter, str], NodeFilter]] = {
    "tier": _tier,
    "type": _type,
    "is": _is,
    "session": lambda base, value: replace(base, session=value),
    "project": lambda base, value: replace(base, project=value),
    "tag": lambda base, value: replace(base, tag=value),
}
