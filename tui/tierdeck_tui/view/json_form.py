"""Values as JSON, losslessly: what the text output has to hide from a terminal, this escapes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path


def json_text(value: object) -> str:
    """One JSON document, pure ASCII: control characters and lone surrogates come back as they were on reading.

    Numbers that JSON does not know become the texts "NaN", "Infinity" and "-Infinity".
    """
    return json.dumps(json_form(value), ensure_ascii=True, allow_nan=False, indent=2)


def json_form(value: object) -> object:
    """The value in what JSON has: a dataclass becomes an object of its fields, a set a sorted list."""
    if isinstance(value, Enum):
        return json_form(value.value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _named(value)
    if value is None or isinstance(value, str | int):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_form(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): json_form(each) for key, each in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((json_form(each) for each in value), key=str)
    if isinstance(value, list | tuple):
        return [json_form(each) for each in value]
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"write JSON: no form for {type(value).__name__}")


def _named(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
