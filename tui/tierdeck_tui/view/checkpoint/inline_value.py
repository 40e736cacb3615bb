"""A value in one line, with what stands in it: `{'to': 'ann'}`. Pure; nothing of its class is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from tierdeck.checkpoint.values.preview import preview
from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.view.checkpoint.value import value_words

MAX_CHARS = 400
_MAX_ITEMS = 8
_MAX_DEPTH = 3
_SIGNS: Mapping[type, tuple[str, str]] = {dict: ("{", "}"), list: ("[", "]"), tuple: ("(", ")")}


def inline_words(value: object) -> str:
    """The value as Python writes it, long texts and what is deep inside cut short; secrets are masked."""
    # Masked before it is cut: half a secret would not be known as one.
    text = mask_secrets(_words(value, 0))
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"


def _words(value: object, depth: int) -> str:
    signs = _SIGNS.get(type(value))
    if signs is None or not value or depth >= _MAX_DEPTH:
        return value_words(value)
    items = list(_items(value, depth))
    size = len(value)  # type: ignore[arg-type]  # one of the three
    more = [f"{size - len(items):,} more"] if size > len(items) else []
    return signs[0] + ", ".join([*items, *more]) + signs[1]


def _items(value: object, depth: int) -> Iterator[str]:
    if type(value) is dict:
        return (f"{preview(key)}: {_words(each, depth + 1)}" for key, each in islice(value.items(), _MAX_ITEMS))
    assert type(value) is list or type(value) is tuple  # noqa: S101 - as _SIGNS has it
    return (_words(each, depth + 1) for each in islice(value, _MAX_ITEMS))
