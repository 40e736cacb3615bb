"""One short line about a value, made without calling anything of its class. Pure."""

from __future__ import annotations

from itertools import islice

from tierdeck.checkpoint.kinds.class_facts import is_one_of, loaded, type_name
from tierdeck.checkpoint.kinds.records import Inert, Placeholder, Record, Unsaved

PREVIEW_CHARS = 80
_SHOWN_ITEMS = 4
_SHOWN_BITS = 512  # a longer int is told by its length: Python refuses to print more than 4,300 digits
_PLAIN = (bool, float, complex, type(None))
_SIZED = (list, tuple, dict, set, frozenset)


def preview(value: object) -> str:
    """At most `PREVIEW_CHARS` characters that tell what the value is; never more work than its first few items."""
    try:
        text = _text(value, 0)
    except RuntimeError:  # another thread changes a dict meanwhile
        text = f"<{type_name(type(value))} object>"
    return text if len(text) <= PREVIEW_CHARS else text[: PREVIEW_CHARS - 1] + "…"


def _text(value: object, nested: int) -> str:
    kind = type(value)
    if kind is str or kind is bytes or kind is bytearray:
        return _sized_text(value)  # type: ignore[arg-type]  # one of the three
    if kind is int:
        bits = int.bit_length(value)  # type: ignore[arg-type]
        return repr(value) if bits <= _SHOWN_BITS else f"int of {bits:,} bits"
    if is_one_of(kind, _PLAIN):
        return repr(value)
    if is_one_of(kind, _SIZED):
        return _items_text(value, nested)  # type: ignore[arg-type]  # one of the five
    if kind is loaded("numpy", "ndarray"):
        return f"{value.dtype} array {'×'.join(map(str, value.shape)) or 'of one'}"  # type: ignore[attr-defined]
    return _object_text(value)


def _sized_text(value: str | bytes | bytearray) -> str:
    head = repr(value[:PREVIEW_CHARS])
    return head if len(value) <= 40 else f"{len(value):,} {'chars' if type(value) is str else 'bytes'}: {head}"


def _items_text(
    value: list[object] | tuple[object, ...] | dict[object, object] | set[object] | frozenset[object], nested: int
) -> str:
    # The items of a set come in the order of their hashes, which is another one in each process.
    if nested or isinstance(value, set | frozenset) or not value:
        return f"{type(value).__name__} of {len(value):,}"
    shown = ", ".join(_text(item, nested + 1) for item in islice(value, _SHOWN_ITEMS))
    more = ", …" if len(value) > _SHOWN_ITEMS else ""
    return f"{type(value).__name__} of {len(value):,}: {shown}{more}"


def _object_text(value: object) -> str:
    if type(value) is Record:
        return f"{_word(value.type_name)}({', '.join(map(_word, _names(value.fields)))})"
    if type(value) is Inert:
        return f"<{_word(value.kind)} {_word(value.name)}>"
    if type(value) is Unsaved:
        return f"<not saved: {_word(value.type_name)}>"
    if type(value) is Placeholder:
        return f"<unknown, tag {value.tag if type(value.tag) is int else '?'}>"
    return f"<{type_name(type(value))} object>"


def _names(fields: object) -> list[object]:
    return list(islice(fields, _SHOWN_ITEMS)) if type(fields) is dict else []


def _word(text: object) -> str:
    """What stands where a text should: somebody may have put another thing there."""
    return text if type(text) is str else "?"
