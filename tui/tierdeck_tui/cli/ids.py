"""Ids on the command line: full or short, as arguments or, for `-`, one a line from stdin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from tierdeck.errors import InvalidValueError
from tierdeck.store import Store, resolve_ids

F = TypeVar("F", bound=Callable[..., Any])


def ids_argument(function: F) -> F:
    """The argument `ID...` of a verb that takes memories."""
    return click.argument("ids", nargs=-1, required=True, metavar="ID...")(function)


def resolved(store: Store, given: Sequence[str]) -> list[str]:
    """The full ids that were meant, in their order, each once; `-` stands for those on stdin.

    Raises:
        InvalidValueError: stdin held none.
        NotFoundError, AmbiguousIdError: one fits no memory, or several.
    """
    asked: list[str] = []
    for text in given:
        asked += _from_stdin() if text == "-" else [text]
    if not asked:
        raise InvalidValueError(
            "read ids: stdin held none", hint="give one id a line: `tierdeck search WORDS --ids`"
        )
    return resolve_ids(store, asked)


def _from_stdin() -> list[str]:
    if sys.stdin is None:  # closed before we began
        return []
    return [line.strip() for line in sys.stdin if line.strip()]
