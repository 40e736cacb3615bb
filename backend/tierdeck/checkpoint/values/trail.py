"""Where in a variable a thing stands, as Python would write it: `matches[3].sock`. Pure.

A trail is kept as links from the thing outwards and put into words only when there is something to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import cast

from tierdeck.checkpoint.kinds import tags
from tierdeck.checkpoint.kinds.class_facts import comes_from
from tierdeck.checkpoint.values.preview import preview

_MAX_PATH = 300
_MAX_KEY = 40


@dataclass(slots=True)
class Frame:
    """One container on the way, the node made of it, and where it stands itself: at `at` of what is around it."""

    around: Frame | None
    at: int
    container: object
    node: list[object]
    depth: int


def path_text(variable: str, frame: Frame | None, at: int) -> str:
    """The path with the variable in front; the middle of a very long one is left out.

    Args:
        frame: the container the thing stands in, at `at` of its node; None for the variable itself.
    """
    labels: list[str] = []
    while frame is not None:
        labels.append(_label(frame, at))
        at, frame = frame.at, frame.around
    text = variable + "".join(reversed(labels))
    return text if len(text) <= _MAX_PATH else f"{text[: _MAX_PATH // 2]}…{text[-_MAX_PATH // 2 :]}"


def _label(frame: Frame, at: int) -> str:
    tag = frame.node[0]
    place = at - 1 - tags.SHELLS.get(tag if type(tag) is int else -1, 0)
    if tag in tags.PAIRED:
        return _pair_label(frame, at, place)
    if tag in (tags.SET, tags.FROZENSET):
        return "{…}"
    return f"[{place}]"


def _pair_label(frame: Frame, at: int, place: int) -> str:
    if place % 2 == 0:
        return f".<key {place // 2}>"
    name = frame.node[at - 1]
    if comes_from(type(frame.container), dict):
        # The key in the node may be encoded by now; the container's own is as it was.
        name = next(islice(cast("dict[object, object]", frame.container), place // 2, None), None)
    if type(name) is str and name.isidentifier():
        return f".{name}"
    text = preview(name)
    return f"[{text if len(text) <= _MAX_KEY else text[:_MAX_KEY] + '…'}]"
