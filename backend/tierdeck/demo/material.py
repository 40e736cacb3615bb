"""What the demo store is made from: the memories and sessions of one coding agent, as the two data files say it.

Times are days before now, so that the store is always as fresh as the day it is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from tierdeck.model import Outcome


@dataclass(frozen=True, slots=True)
class DemoSession:
    """One session; `day` is when it began (negative: days ago), `hours` how long it took, None: it goes on."""

    key: str
    project: str
    agent: str
    parent: str | None
    day: float
    hours: float | None
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class DemoRelation:
    """A bond from its memory to the memory of the key `to`."""

    type: str
    label: str
    to: str
    weight: float


@dataclass(frozen=True, slots=True)
class DemoAccess:
    """One look at a memory, in the session of that key."""

    session: str
    kind: str
    day: float
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class DemoConfidence:
    """One step of a memory's confidence."""

    day: float
    old: float
    new: float
    trigger: str
    session: str


@dataclass(frozen=True, slots=True)
class DemoMove:
    """One move of a memory by the operator's hand; with `holds` no rule moves it from then on."""

    day: float
    tier: str
    reason: str
    holds: bool


@dataclass(frozen=True, slots=True)
class DemoMemory:
    """One memory as it is now, and how it came to be so. `embed` False: it must not be embedded.

    `moves` are those by hand; those by rule follow from the accesses.
    """

    key: str
    type: str
    subtype: str | None
    tier: str
    confidence: float
    content: str
    provenance: str | None
    session: str
    day: float
    tags: tuple[str, ...]
    project: str
    embed: bool
    relations: tuple[DemoRelation, ...]
    accesses: tuple[DemoAccess, ...]
    confidence_steps: tuple[DemoConfidence, ...]
    moves: tuple[DemoMove, ...]


def read_sessions() -> list[DemoSession]:
    """The sessions that others began with in the order of their times, then their sub-agents' sessions."""
    return [
        DemoSession(d["key"], d["project"], d["agent"], d["parent"], d["day"], d["hours"], d["outcome"])
        for d in _lines("sessions.jsonl")
    ]


def read_memories() -> list[DemoMemory]:
    """The memories in the order of their keys, which is not that of their times."""
    return [_memory(d) for d in _lines("memories.jsonl")]


def _memory(d: Mapping[str, Any]) -> DemoMemory:
    return DemoMemory(
        key=d["key"],
        type=d["type"],
        subtype=d["subtype"],
        tier=d["tier"],
        confidence=d["confidence"],
        content=d["content"],
        provenance=d["provenance"],
        session=d["session"],
        day=d["day"],
        tags=tuple(d["tags"]),
        project=d["project"],
        embed=d["embed"],
        relations=tuple(DemoRelation(r["type"], r["label"], r["to"], r["weight"]) for r in d["relations"]),
        accesses=tuple(DemoAccess(a["session"], a["kind"], a["day"], a["outcome"]) for a in d["accesses"]),
        confidence_steps=tuple(
            DemoConfidence(c["day"], c["from"], c["to"], c["trigger"], c["session"])
            for c in d["confidence_history"]
        ),
        moves=tuple(DemoMove(m["day"], m["to"], m["reason"], m.get("hold", False)) for m in d["moves"]),
    )


def _lines(name: str) -> Iterator[Mapping[str, Any]]:
    # Not splitlines(): some memories hold characters that it takes for line ends.
    for line in files("tierdeck.demo").joinpath(name).read_text("utf-8").split("\n"):
        if line:
            yield json.loads(line)
