"""Dates, times, spans and zones. Pure, but that a named zone is looked up in the system's own table."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.loss import UnsaveableError
from tierdeck.checkpoint.kinds.records import Placeholder
from tierdeck.checkpoint.kinds.scalars import Node, checked_int, checked_text

# No dots: the key becomes a path, and a package of data where the system has no table.
_ZONE_KEY = re.compile(r"[A-Za-z0-9_+-]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,3}")


def _zone_node(zone: tzinfo | None) -> Node | None:
    if zone is None:
        return None
    if type(zone) is timezone:
        return _offset_node(zone)
    if type(zone) is ZoneInfo:
        return _named_zone_node(zone)
    raise UnsaveableError("a time zone of a class of its own")


def _offset_node(zone: timezone) -> Node:
    # The only place where a zone says whether its name was given or made up from the offset.
    given: tuple[object, ...] = zone.__getinitargs__()  # type: ignore[attr-defined]
    offset = given[0]
    assert isinstance(offset, timedelta)  # noqa: S101  # what CPython gives pickle
    name = given[1] if len(given) > 1 else None
    if name is not None and type(name) is not str:
        raise UnsaveableError("a time zone whose name is no plain text")
    return [tags.OFFSET, offset.days, offset.seconds, offset.microseconds, name]


def _named_zone_node(zone: ZoneInfo) -> Node:
    if type(zone.key) is not str or not _ZONE_KEY.fullmatch(zone.key):
        raise UnsaveableError("a time zone without a name to look it up by")
    return [tags.ZONE, zone.key]


def _datetime_node(value: datetime) -> Node:
    return [
        tags.DATETIME, value.year, value.month, value.day, value.hour, value.minute, value.second,
        value.microsecond, value.fold, _zone_node(value.tzinfo),
    ]  # fmt: skip


def _time_node(value: time) -> Node:
    zone = _zone_node(value.tzinfo)
    return [tags.TIME, value.hour, value.minute, value.second, value.microsecond, value.fold, zone]


def _timedelta_node(value: timedelta) -> Node:
    return [tags.TIMEDELTA, value.days, value.seconds, value.microseconds]


def _make_date(ordinal: object) -> date:
    return date.fromordinal(checked_int(ordinal))


def _make_datetime(*operands: object) -> datetime | Placeholder:
    *numbers, fold, zone = operands
    year, month, day, hour, minute, second, micro = (checked_int(number) for number in numbers)
    if isinstance(zone, Placeholder):
        return Placeholder(tags.DATETIME, operands, zone.why)
    return datetime(year, month, day, hour, minute, second, micro, _checked_zone(zone), fold=checked_int(fold))


def _make_time(*operands: object) -> time | Placeholder:
    *numbers, fold, zone = operands
    hour, minute, second, micro = (checked_int(number) for number in numbers)
    if isinstance(zone, Placeholder):
        return Placeholder(tags.TIME, operands, zone.why)
    return time(hour, minute, second, micro, _checked_zone(zone), fold=checked_int(fold))


def _checked_zone(zone: object) -> tzinfo | None:
    if zone is None or type(zone) is timezone or type(zone) is ZoneInfo:
        return zone
    raise ValueError(f"a {type(zone).__name__} stands where a time zone does")


def _make_timedelta(days: object, seconds: object, micro: object) -> timedelta:
    return timedelta(checked_int(days), checked_int(seconds), checked_int(micro))


def _make_offset(days: object, seconds: object, micro: object, name: object) -> timezone:
    offset = _make_timedelta(days, seconds, micro)
    return timezone(offset) if name is None else timezone(offset, checked_text(name))


def _make_zone(key: object) -> ZoneInfo | Placeholder:
    if not _ZONE_KEY.fullmatch(checked_text(key)):
        raise ValueError(f"{str(key)[:40]!r} is no name of a time zone")
    try:
        return ZoneInfo(str(key))
    except (OSError, KeyError, ValueError):  # a folder of the table, an unknown name, a file that is no zone
        return Placeholder(tags.ZONE, (key,), f"this machine knows no time zone {key}")


MOMENT_NODES: dict[type, Callable[..., Node]] = {
    date: lambda value: [tags.DATE, value.toordinal()],
    datetime: _datetime_node,
    time: _time_node,
    timedelta: _timedelta_node,
    timezone: _offset_node,
    ZoneInfo: _named_zone_node,
}

MAKE_MOMENT: dict[int, Callable[..., object]] = {
    tags.DATE: _make_date,
    tags.DATETIME: _make_datetime,
    tags.TIME: _make_time,
    tags.TIMEDELTA: _make_timedelta,
    tags.OFFSET: _make_offset,
    tags.ZONE: _make_zone,
}
