"""Where in a variable a thing stands, as Python would write it: `matches[3].sock`. Pure.

A trail is kept as links from the thing outwards and put into words only when there is something to say.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple, cast

from tierdeck.checkpoint import tags
from tierdeck.checkpoint.class_facts import comes_from
from tierdeck.checkpoint.preview import preview

_MAX_PATH = 300
_MAX_KEY = 40


class Step(NamedTuple):
    """One container on the way, the node made of it, and the place in the node."""

    outer: Step | None
    container: object
    node: list[object]
    at: int


def path_text(variable: str, step: Step | None) -> str:
    """The path with the variable in front; the middle of a very long one is left out."""
    labels: list[str] = []
    while step is not None:
        labels.append(_label(step))
        step = step.outer
    text = variable + "".join(reversed(labels))
    return text if len(text) <= _MAX_PATH else f"{text[: _MAX_PATH // 2]}…{text[-_MAX_PATH // 2 :]}"


def _label(step: Step) -> str:
    tag = step.node[0]
    first = 1 + tags.SHELLS.get(tag if type(tag) is int else -1, 0)
    place = step.at - first
    if tag in tags.PAIRED:
        return _pair_label(step, place)
    if tag in (tags.SET, tags.FROZENSET):
        return "{…}"
    return f"[{place}]"


def _pair_label(step: Step, place: int) -> str:
    name = step.node[step.at - place % 2]
    if comes_from(type(step.container), dict):
        # The key in the node may be encoded by now; the container's own is as it was.
        name = next(islice(cast("dict[object, object]", step.container), place // 2, None), None)
    if place % 2 == 0:
        return f".<key {place // 2}>"
    if type(name) is str and name.isidentifier():
        return f".{name}"
    text = preview(name)
    return f"[{text if len(text) <= _MAX_KEY else text[:_MAX_KEY] + '…'}]"
