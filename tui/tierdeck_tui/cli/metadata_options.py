"""A memory's metadata from the command line: `--meta KEY=VALUE`, `--tag TAG`, `--metadata JSON`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from tierdeck.errors import InvalidValueError

F = TypeVar("F", bound=Callable[..., Any])
TAGS_KEY = "tags"


def metadata_options(function: F) -> F:
    """Give a verb the options that make metadata."""
    for option in reversed(
        (
            click.option("--meta", multiple=True, metavar="KEY=VALUE", help="Metadata, as text. Repeatable."),
            click.option("--tag", multiple=True, metavar="TAG", help="A tag more. Repeatable."),
            click.option("--metadata", metavar="JSON", help="All metadata, as a JSON object."),
        )
    ):
        function = option(function)
    return function


def metadata_of(
    old: Mapping[str, object],
    whole: str | None,
    pairs: Sequence[str],
    tags: Sequence[str],
    *,
    without: Sequence[str] = (),
    untag: Sequence[str] = (),
) -> dict[str, object]:
    """The metadata that results: `whole` or else `old`, then keys taken out, pairs set, tags taken out and added.

    Raises:
        InvalidValueError: `whole` is no JSON object, or a pair has no `=`; names it.
    """
    found = dict(old) if whole is None else _object(whole)
    for key in without:
        found.pop(key, None)
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise InvalidValueError(f"set metadata: {pair[:60]!r} is not KEY=VALUE")
        found[key] = value
    if tags or untag:
        kept = [tag for tag in _tags(found) if tag not in untag]
        found[TAGS_KEY] = list(dict.fromkeys([*kept, *tags]))
    return found


def _tags(metadata: Mapping[str, object]) -> list[object]:
    """The tags as a list; other programs may write a single one as a text."""
    held = metadata.get(TAGS_KEY, [])
    return list(held) if isinstance(held, list) else [held]


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise InvalidValueError(f"set metadata: not JSON: {e}", hint='give an object: {"source": "wiki"}') from e
    if not isinstance(value, dict):
        raise InvalidValueError(f"set metadata: {type(value).__name__} is not a JSON object")
    return value
