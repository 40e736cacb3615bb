"""What is decided about an agent's calls by who asks it to go back, as it lies in the request's file. Pure."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Any, NamedTuple

MAX_REQUESTED = 1_000
_MAX_TEXT = 200
_KEYS = ("op_id", "choice", "seen", "by", "value", "form")


class RequestedDecision(NamedTuple):
    """One decision: about which call, what, and in which state that call was seen then.

    `value` and `form` are those of the value a call is said to have given; None for none. What the texts mean is
    looked at by the agent: here they are texts.
    """

    op_id: str
    choice: str
    seen: str | None
    by: str | None
    value: bytes | None = None
    form: int = 0

    @property
    def is_right(self) -> bool:
        """Whether its fields are of the types they should be, and of bounded length."""
        texts = (self.op_id, self.choice, self.seen or "", self.by or "")
        return (
            all(type(text) is str and len(text) <= _MAX_TEXT for text in texts)
            and bool(self.op_id)
            and (self.value is None or type(self.value) is bytes)
            and type(self.form) is int
        )


def decisions_as_json(decisions: tuple[RequestedDecision, ...]) -> list[dict[str, object]]:
    """As they stand in the file."""
    return [
        each._asdict() | {"value": None if each.value is None else b64encode(each.value).decode("ascii")}
        for each in decisions
    ]


def decisions_from_json(found: object) -> tuple[RequestedDecision, ...] | None:
    """The decisions of a request; None when they are none. A request without any has none."""
    if found is None:
        return ()
    if type(found) is not list or len(found) > MAX_REQUESTED:
        return None
    decisions = []
    for item in found:
        one = _decision(item)
        if one is None:
            return None
        decisions.append(one)
    return tuple(decisions)


def _decision(item: object) -> RequestedDecision | None:
    if type(item) is not dict:
        return None
    fields: dict[str, Any] = {key: item.get(key) for key in _KEYS}
    try:
        value = None if fields["value"] is None else b64decode(fields["value"], validate=True)
    except (TypeError, ValueError, Base64Error):
        return None
    one = RequestedDecision(**(fields | {"value": value}))
    return one if one.is_right else None
