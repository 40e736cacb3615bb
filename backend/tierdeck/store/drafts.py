"""What may enter a store: drafts and changes, checked, and turned into the values of their columns. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TypeVar
from uuid import UUID, uuid4

from tierdeck.errors import InvalidValueError
from tierdeck.model import MAX_CONTENT_BYTES, NodeDraft, NodeType, Tier
from tierdeck.times import MILLISECONDS_BELOW, stored_time

MAX_ID_CHARS = 200
MAX_METADATA_CHARS = 1_000_000
MAX_COUNT = 2**53
# Made once: `json.dumps` with options makes a new encoder for each memory.
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
Choice = TypeVar("Choice", NodeType, Tier)
DRAFT_COLUMNS = (
    "id", "type", "subtype", "content", "tier", "confidence", "provenance",
    "created_at", "updated_at", "last_accessed", "access_count", "metadata",
)  # fmt: skip
DraftValues = tuple[
    str, str, str | None, str, str, float, str | None, int | float, int | float, int | float, int, str
]


def draft_values(draft: NodeDraft, now_ms: int) -> DraftValues:
    """The values of `DRAFT_COLUMNS` for a draft, checked.

    Raises:
        InvalidValueError: names the field, its value and the limit.
    """
    node_id = str(uuid4()) if draft.id is None else checked_id(draft.id)
    created_at = now_ms if draft.created_at_ms is None else checked_time(draft.created_at_ms, "created_at_ms")
    updated_at, last_accessed = draft.updated_at_ms, draft.last_accessed_ms
    return (
        node_id,
        checked_choice(draft.type, NodeType, "type").value,
        checked_text(draft.subtype, "subtype"),
        checked_content(draft.content),
        checked_choice(draft.tier, Tier, "tier").value,
        checked_confidence(draft.confidence),
        checked_text(draft.provenance, "provenance"),
        created_at,
        created_at if updated_at is None else checked_time(updated_at, "updated_at_ms"),
        created_at if last_accessed is None else checked_time(last_accessed, "last_accessed_ms"),
        checked_count(draft.access_count),
        metadata_json(draft.metadata),
    )


def checked_content(text: str) -> str:
    """A memory's text: not blank, without NUL and lone surrogates, at most `MAX_CONTENT_BYTES` in UTF-8."""
    if not text or text.isspace():
        raise InvalidValueError("write memory: its text is blank", hint="give at least one visible character")
    _check_storable(text, "text")
    # Four bytes is the most a character takes: a text below a quarter of the limit needs no encoding to know.
    if len(text) > MAX_CONTENT_BYTES // 4:
        size = len(text.encode())
        if size > MAX_CONTENT_BYTES:
            raise InvalidValueError(
                f"write memory: its text has {size:,} bytes, the limit is {MAX_CONTENT_BYTES:,}",
                hint="split it, or keep the file elsewhere and remember where",
            )
    return text


def checked_text(text: str | None, field: str) -> str | None:
    """A short text field; None stays None."""
    if text is not None:
        _check_storable(text, field)
    return text


def checked_id(node_id: str) -> str:
    """A given id: 1 to 200 printable characters without spaces at its ends (other programs' ids are no UUIDs)."""
    if not node_id or len(node_id) > MAX_ID_CHARS or not node_id.isprintable() or node_id != node_id.strip():
        raise InvalidValueError(
            f"write memory: {node_id[:40]!r} is not an id ({len(node_id)} characters)",
            hint=f"1 to {MAX_ID_CHARS} printable characters; leave it out and a UUID is drawn",
        )
    return node_id


def is_uuid(text: str) -> bool:
    """Whether the text is a UUID as `str(UUID)` writes it."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def checked_confidence(value: float) -> float:
    """A confidence: finite, from 0 to 1. Spec: SPEC-02.08"""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidValueError(f"write memory: confidence {value!r:.40} is not a number from 0 to 1")
    return float(value)


def checked_weight(value: float) -> float:
    """A relation's weight: finite, 0 or more. Spec: SPEC-02.13"""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0):
        raise InvalidValueError(f"relate memories: weight {value!r:.40} is not a finite number of 0 or more")
    return float(value)


def checked_time(time_ms: int, field: str) -> int | float:
    """A time in milliseconds as its column takes it."""
    if isinstance(time_ms, bool) or not isinstance(time_ms, int) or abs(time_ms) >= MILLISECONDS_BELOW:
        raise InvalidValueError(
            f"write memory: {field} {time_ms!r:.40} is not a whole number of milliseconds before the year 10000"
        )
    return stored_time(time_ms)


def checked_count(count: int) -> int:
    """How often a memory was used: a whole number of 0 or more."""
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_COUNT:
        raise InvalidValueError(f"write memory: access_count {count!r:.40} is not a whole number of 0 or more")
    return count


def checked_actor(actor: str) -> str:
    """Who changes something: at least one visible character."""
    if not actor.strip():
        raise InvalidValueError("change memory: the actor is blank", hint="name who changes it")
    _check_storable(actor, "actor")
    return actor


def checked_choice(value: Choice, kind: type[Choice], field: str) -> Choice:
    """A member of a closed set, also when it came as its plain text."""
    if isinstance(value, kind):
        return value
    try:
        return kind(value)
    except ValueError:
        choices = ", ".join(member.value for member in kind)
        raise InvalidValueError(f"write memory: {field} {value!r:.40} is none of {choices}") from None


def metadata_json(metadata: Mapping[str, object]) -> str:
    """A metadata object as JSON text: text keys at every level, finite numbers, at most 1 MB."""
    if not isinstance(metadata, Mapping):
        raise InvalidValueError(f"write memory: metadata is a {type(metadata).__name__}, not an object")
    if not metadata:
        return "{}"
    try:
        text = _ENCODE(dict(metadata))
    except (TypeError, ValueError, RecursionError) as e:
        raise InvalidValueError(f"write memory: metadata can't be written as JSON: {e}") from e
    _check_keys(dict(metadata))
    _check_storable(text, "metadata")
    if len(text) > MAX_METADATA_CHARS:
        raise InvalidValueError(
            f"write memory: metadata has {len(text):,} characters, the limit is {MAX_METADATA_CHARS:,}"
        )
    return text


def _check_keys(value: object) -> None:
    """JSON would turn a key that is a number into text without a word."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise InvalidValueError(f"write memory: metadata key {key!r:.40} is not text")
            if not isinstance(inner, str):
                _check_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            if not isinstance(inner, str):
                _check_keys(inner)


def _check_storable(text: str, field: str) -> None:
    if "\0" in text:
        raise InvalidValueError(
            f"write memory: {field} holds a NUL character at {text.index(chr(0))}", hint="take it out"
        )
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as e:
            raise InvalidValueError(
                f"write memory: {field} holds half a character (a lone surrogate) at {e.start}"
            ) from e
