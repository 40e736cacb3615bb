"""What a memory says of its generation: its text, type, confidence and metadata fit each other, or it is torn.

Only the standard library: the program that writes need not know ours.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

BEACONS = 8
SIDES = ("even", "odd")
_TYPES = ("fact", "decision", "experience", "snippet")
_TOPICS = ("harbour", "granite", "violet", "saddle", "copper", "lantern", "meadow")
_GENERATION = re.compile(r"\bgen(\d+)\b")


@dataclass(frozen=True, slots=True)
class Said:
    """One memory of one generation; `metadata` is JSON."""

    text: str
    type: str
    confidence: float
    metadata: str


def said(generation: int) -> Said:
    """An ordinary memory."""
    topic = _TOPICS[generation % len(_TOPICS)]
    return _of(generation, f"{topic} {_side(generation)} gen{generation} getPart{generation % 50}Of{topic.title()}")


def beacon(generation: int, number: int) -> Said:
    """One of the memories that always change together."""
    return _of(generation, f"beacon number{number} {_side(generation)} gen{generation} lightTower{number}Id")


def generation_of(text: str) -> int:
    """The generation that a text names."""
    found = _GENERATION.search(text)
    assert found is not None, text
    return int(found[1])


def _of(generation: int, text: str) -> Said:
    metadata = json.dumps({"side": _side(generation), "gen": str(generation)})
    return Said(text, _TYPES[generation % len(_TYPES)], (generation % 1000) / 1000, metadata)


def _side(generation: int) -> str:
    return SIDES[generation % 2]


def fitting(generation: int) -> tuple[str, float]:
    """The type and the confidence of a memory of that generation."""
    return _TYPES[generation % len(_TYPES)], (generation % 1000) / 1000
