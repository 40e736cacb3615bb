"""What an operator types about calls, `ID=again|skip|abort|done[:JSON]`, as decisions about the calls there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from tierdeck.checkpoint.journal import Choice, Decision, store_value
from tierdeck.checkpoint.running import OpenOperation
from tierdeck.errors import AmbiguousIdError, InvalidValueError, NotFoundError
from tierdeck.store.finite_json import parse_json

F = TypeVar("F", bound=Callable[..., Any])

CHOICE_WORDS: dict[str, Choice] = {"again": "run again", "skip": "skip", "abort": "abort", "done": "done"}
_SHOWN = 20
_HINT = "give again, skip, abort, or done with the value it gave: done:JSON"


def operation_option(function: F) -> F:
    """The option `--operation ID=CHOICE`, which may be given many times."""
    return click.option(
        "--operation",
        "choices",
        multiple=True,
        metavar="ID=CHOICE",
        help="What is done about a call: again, skip, abort, done, or done:JSON VALUE. May be given again.",
    )(function)


def decisions_of(texts: Sequence[str], operations: Sequence[OpenOperation], by: str) -> dict[str, Decision]:
    """The decisions that were typed, by the full ids of the calls.

    Raises:
        InvalidValueError: a text is no `ID=CHOICE`, or a call is named twice.
        NotFoundError, AmbiguousIdError: an id fits none of the calls, or several.
    """
    decisions: dict[str, Decision] = {}
    for text in texts:
        op_id, mark, choice = text.partition("=")
        if not mark or not op_id:
            raise InvalidValueError(f"decide operation: {text[:80]!r} is no ID=CHOICE", hint=_HINT)
        found = operation_by_id(operations, op_id)
        if found.entry.op_id in decisions:
            raise InvalidValueError(f"decide operation {op_id[:40]}: it was decided about twice")
        decisions[found.entry.op_id] = decision_of(choice, found, by)
    return decisions


def operation_by_id(operations: Sequence[OpenOperation], text: str) -> OpenOperation:
    """The one call with this id, or whose id alone begins so. Raises as `decisions_of`."""
    matches = [each for each in operations if each.entry.op_id == text]
    matches = matches or [each for each in operations if text and each.entry.op_id.startswith(text)]
    if len(matches) > 1:
        ids = [each.entry.op_id for each in matches[:_SHOWN]]
        raise AmbiguousIdError(
            f"decide operation {text[:40]}: {len(matches)} ids begin so", matches=ids, hint="give more of it"
        )
    if not matches:
        raise NotFoundError(
            f"decide operation {text[:40]!r}: none of that id can be decided about",
            hint="`tierdeck checkpoint operations` lists those that can",
        )
    return matches[0]


def decision_of(text: str, about: OpenOperation, by: str) -> Decision:
    """The decision that a text such as `skip` or `done:{"id": 7}` means. Raises InvalidValueError."""
    word, mark, value = text.partition(":")
    choice = CHOICE_WORDS.get(word)
    if choice is None or (mark and choice != "done"):
        raise InvalidValueError(f"decide operation: {text[:80]!r} is no choice", hint=_HINT)
    stored = store_value(_value(value)) if mark else None
    return Decision(choice, stored, by, about.entry.state)


def _value(text: str) -> object:
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as e:
        raise InvalidValueError(
            f"decide operation: the value {text[:80]!r} is no JSON ({str(e)[:80]})",
            hint="a text is given in quotes: done:'\"sent\"'",
        ) from e
