"""The filters of `search` as options: the same conditions as typed filters, read by the same rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click

from tierdeck.errors import InvalidValueError
from tierdeck.model import NodeFilter, NodeType, Tier
from tierdeck.search.query.typed_filter import UnreadableValueError, narrow

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _FilterOption:
    """An option, the key that it is as a typed filter, and the operator between key and value."""

    flag: str
    key: str
    operator: str
    metavar: str
    about: str
    is_repeatable: bool = False

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


_OPTIONS = (
    _FilterOption("--tier", "tier", ":", "TIER", f"Only this tier: {', '.join(Tier)}. Repeatable.", True),
    _FilterOption("--type", "type", ":", "TYPE", f"Only this type: {', '.join(NodeType)}. Repeatable.", True),
    _FilterOption("--min-confidence", "conf", ">=", "N", "Only with this confidence or more, 0 to 1."),
    _FilterOption("--since", "since", ":", "WHEN", "Only made since then: 7d, 12h, 2026-03-01."),
    _FilterOption("--until", "until", ":", "WHEN", "Only made until then."),
    _FilterOption("--session", "session", ":", "ID", "Only used or made in this session."),
    _FilterOption("--project", "project", ":", "NAME", "Only of this project, or used in a session of it."),
    _FilterOption("--tag", "tag", ":", "TAG", "Only with this tag."),
    _FilterOption("--meta", "meta", ":", "KEY=VALUE", "Only with this metadata. Repeatable.", True),
)


def filter_options(function: F) -> F:
    """Give a verb every filter option and `--archived`."""
    function = click.option("--archived", is_flag=True, help="Show archived memories too.")(function)
    for option in reversed(_OPTIONS):
        function = click.option(
            option.flag, multiple=option.is_repeatable, metavar=option.metavar, help=option.about
        )(function)
    return function


def filter_of(params: dict[str, Any], now_ms: int) -> NodeFilter:
    """The filter that the options ask for.

    Args:
        params: what click parsed; the filter options are taken out of it.
        now_ms: the clock that `7d` counts back from.

    Raises:
        InvalidValueError: an option does not take its value; names both.
    """
    found = NodeFilter()
    for option in _OPTIONS:
        for value in _given(params.pop(option.name)):
            try:
                found = narrow(found, option.key, option.operator, value, now_ms)
            except UnreadableValueError as e:
                raise InvalidValueError(f"filter by {option.flag}: {value[:60]!r}: it {e}") from e
    return replace(found, include_archived=True) if params.pop("archived") else found


def _given(value: str | Iterable[str] | None) -> Iterable[str]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value
