"""One record of somebody's JSONL file as a memory to be written: `{"id": …, "text": …}` and what may stand beside.

An id that is no UUID becomes the UUID5 of (source, id), so that the same file gives the same memories each time;
the original stays in the metadata, as does every field that is none of ours. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID, uuid5

from tierdeck.errors import InvalidValueError
from tierdeck.model import MAX_CONTENT_BYTES, NodeDraft, NodeType, Tier
from tierdeck.store.drafts import MAX_COUNT, DraftValues, draft_values, is_uuid
from tierdeck.times import parse_time_ms
from tierdeck.transfer.line_reader import Rejected

# A namespace of ours (a UUID4 drawn once): changing it would make every imported id another.
_NAMESPACE = UUID("5a3c1f0e-8d0b-4f7e-9a49-6f1d3f6f2b7c")
_TEXT_FIELDS = ("text", "content")
_TIME_FIELDS = ("created_at", "updated_at", "last_accessed")
_OUR_FIELDS = frozenset(
    {
        "id", *_TEXT_FIELDS, *_TIME_FIELDS, "type", "subtype", "tier", "confidence", "provenance", "metadata",
        "access_count", "compute_embedding",
    }
)  # fmt: skip


def plain_values(
    record: Mapping[str, object], source: str, now_ms: int, *, default_type: NodeType, default_tier: Tier
) -> tuple[DraftValues, bool] | Rejected:
    """The columns of a record's memory and whether it may be embedded, or why it can't be taken.

    Args:
        source: what the ids are unique in: names the file, and goes into the metadata as `source`.
        now_ms: the time of a record that has none.
    """
    text = _text_of(record)
    if isinstance(text, Rejected):
        return text
    try:
        original = _original_id(record)
        metadata = _metadata(record, source, original)
        draft = NodeDraft(
            content=text,
            type=NodeType(_choice(record, "type", default_type, NodeType)),
            tier=Tier(_choice(record, "tier", default_tier, Tier)),
            confidence=_number(record, "confidence", 0.5),
            subtype=_short_text(record, "subtype"),
            provenance=_short_text(record, "provenance") or (f"{source}:{original}" if original else source),
            metadata=metadata,
            id=_node_id(source, original, text),
            created_at_ms=_time(record, "created_at"),
            updated_at_ms=_time(record, "updated_at"),
            last_accessed_ms=_time(record, "last_accessed"),
            access_count=_count(record),
        )
        return draft_values(draft, now_ms), record.get("compute_embedding") is not False
    except _FieldError as e:
        return e.rejected
    except InvalidValueError as e:
        return Rejected("a field can't be stored", e.message.removeprefix("write memory: "))


def _node_id(source: str, original: str | None, text: str) -> str:
    """The memory's id: the record's own where it is a UUID, else the UUID5 of what tells the record apart."""
    if original is None:
        return str(uuid5(_NAMESPACE, json.dumps([source, None, text])))
    lower = original.lower()
    return lower if is_uuid(lower) else str(uuid5(_NAMESPACE, json.dumps([source, original])))


class _FieldError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.rejected = Rejected(reason, detail)


def _text_of(record: Mapping[str, object]) -> str | Rejected:
    for name in _TEXT_FIELDS:
        text = record.get(name)
        if text is None:
            continue
        if not isinstance(text, str):
            return Rejected(f"its {name} is not a text", f"a {type(text).__name__}")
        if not text or text.isspace():
            return Rejected("it has no text", f"{name} is blank")
        if "\0" in text:
            return Rejected("its text holds a NUL character", f"at character {text.index(chr(0))}")
        if len(text) > MAX_CONTENT_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_CONTENT_BYTES:
            return Rejected(f"its text is longer than {MAX_CONTENT_BYTES:,} bytes", f"{len(text):,} characters")
        return text
    return Rejected("it has no text", "neither text nor content")


def _original_id(record: Mapping[str, object]) -> str | None:
    found = record.get("id")
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise _FieldError("its id is neither text nor a whole number", f"a {type(found).__name__}")
    return str(found) or None


def _metadata(record: Mapping[str, object], source: str, original: str | None) -> dict[str, object]:
    """The record's metadata, its fields that are none of ours, and where it came from; nothing is overwritten."""
    given = record.get("metadata")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as e:
            raise _FieldError("its metadata are not a JSON object", str(e)) from e
    if given is not None and not isinstance(given, dict):
        raise _FieldError("its metadata are not a JSON object", f"a {type(given).__name__}")
    metadata: dict[str, object] = dict(given or {})
    for name, value in record.items():
        is_unread_time = name in _TIME_FIELDS and value is not None and _time(record, name) is None
        if name not in _OUR_FIELDS or is_unread_time:
            metadata.setdefault(name, value)
    if original is None or not is_uuid(original):
        metadata.setdefault("source", source)
        if original is not None:
            metadata.setdefault("source_id", original)
    return metadata


def _choice(record: Mapping[str, object], name: str, default: str, kind: type[NodeType] | type[Tier]) -> str:
    found = record.get(name)
    if found is None:
        return default
    choices = [member.value for member in kind]
    if found not in choices:
        raise _FieldError(f"its {name} is none of {', '.join(choices)}", f"{str(found)[:40]!r}")
    return str(found)


def _number(record: Mapping[str, object], name: str, default: float) -> float:
    found = record.get(name)
    if found is None:
        return default
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
        raise _FieldError(f"its {name} is no number from 0 to 1", f"{str(found)[:40]!r}")
    return float(found)


def _short_text(record: Mapping[str, object], name: str) -> str | None:
    found = record.get(name)
    if found is not None and not isinstance(found, str):
        raise _FieldError(f"its {name} is not a text", f"a {type(found).__name__}")
    return found


def _time(record: Mapping[str, object], name: str) -> int | None:
    return parse_time_ms(record.get(name))


def _count(record: Mapping[str, object]) -> int:
    found = record.get("access_count")
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MAX_COUNT else 0
