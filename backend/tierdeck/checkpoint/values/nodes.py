"""What the values of a checkpoint are at one moment: nodes of lists, numbers, text and bytes, nobody else's. Pure.

This is all that has to happen while the agent waits: nothing in the nodes is an object that the agent can change,
so they are packed (`encode`) at any time later, on any thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType

from tierdeck.checkpoint.kinds.class_facts import type_name
from tierdeck.checkpoint.kinds.loss import Loss
from tierdeck.checkpoint.limits import AGENT_LIMITS, MAX_TYPE_CHARS, Limits
from tierdeck.checkpoint.values.pools import Pool, Pools, settle, with_gaps
from tierdeck.checkpoint.values.preview import preview
from tierdeck.checkpoint.values.walk import Walk
from tierdeck.checkpoint.values.walked import Walked, note

_GAP = "it holds something of messages, events or memory that can't be saved"


@dataclass(frozen=True, slots=True)
class Source:
    """A value to be saved under its name; in a part, what can't be saved is replaced by a note."""

    name: str
    value: object
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class UnitFacts:
    """What is said of a value beside what it is: `objects` are those in it.

    `pool` is the number of the pool that it shares with others, `reaches` what it refers to there itself.
    """

    name: str
    is_part: bool
    pool: int | None
    reaches: frozenset[int]
    type_name: str
    preview: str
    objects: int


@dataclass(frozen=True, slots=True)
class UnitNodes:
    """One value: its node, None when it is lost, and the pool of its own."""

    facts: UnitFacts
    node: object
    is_lost: bool
    own: Pool | None
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class Nodes:
    """Of all values, in the order given, and the pools that several of them refer to.

    `minor` is the version of the format that it takes to read them: a newer one when a placeholder is of such.
    """

    units: tuple[UnitNodes, ...]
    shared: tuple[Pool, ...]
    minor: int


def nodes_of(
    sources: Sequence[Source], *, source_text: Mapping[CodeType, str] | None = None, limits: Limits = AGENT_LIMITS
) -> Nodes:
    """The nodes of values that may share objects, and go in circles; never raises for a value.

    Args:
        source_text: the text of functions by their code objects, for those whose text the caller knows.
        limits: what whoever reads it again will accept of objects in memory.
    """
    walk = Walk(source_text or {}, limits.memory_bytes)
    for source in sources:
        walk.add(source.name, source.value, is_part=source.is_part)
    pools = settle(walk)
    for number in with_gaps(pools, walk.gaps):
        unit = walk.units[number]
        if not unit.is_part:
            note(unit, None, 0, sources[number].value, _GAP, "lost")
            unit.is_lost = True
    units = enumerate(zip(sources, walk.units, strict=True))
    return Nodes(
        tuple(_unit(number, source, unit, pools) for number, (source, unit) in units),
        tuple(pools.shared),
        walk.minor,
    )


def _unit(number: int, source: Source, unit: Walked, pools: Pools) -> UnitNodes:
    facts = UnitFacts(
        source.name,
        source.is_part,
        pools.pool_of_unit.get(number),
        frozenset(pools.reaches.get(number, ())),
        type_name(type(source.value))[:MAX_TYPE_CHARS],
        preview(source.value),
        unit.objects,
    )
    return UnitNodes(facts, unit.holder[0], unit.is_lost, pools.own.get(number), tuple(unit.losses))
