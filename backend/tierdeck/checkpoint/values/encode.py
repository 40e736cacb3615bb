"""Nodes to bytes: the units of a checkpoint, each by itself, and the pools of what they share. Pure.

    encoded = encode_units([Source("x", [1, 2])])
    decode_unit(encoded.units[0].raw, form=encoded.units[0].form)

One variable that can't be saved is a loss in the result and nothing else; encoding never raises for a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType

from tierdeck.checkpoint.kinds.loss import MAX_REASON, Loss
from tierdeck.checkpoint.kinds.pieces import Pieces, bytes_at_most, join, pack_pieces, pack_plain
from tierdeck.checkpoint.limits import AGENT_LIMITS, Limits
from tierdeck.checkpoint.values.nodes import Nodes, Source, UnitFacts, UnitNodes, nodes_of
from tierdeck.checkpoint.values.pools import Pool
from tierdeck.checkpoint.version import MINOR

_PACK_ERRORS = (ValueError, TypeError, OverflowError, MemoryError)
_ROW_BYTES = 100  # of a unit's row in the table, its numbers and its digest, and more than that
PLAIN, POOLED = 0, 1  # the form of a unit: one value, or a pool whose last object is the value


@dataclass(frozen=True, slots=True)
class EncodedPool:
    """A pool's bytes, where in them each object's body lies, and which objects each refers to."""

    raw: bytes
    spans: tuple[tuple[int, int], ...] = ()
    links: tuple[frozenset[int], ...] = ()


@dataclass(frozen=True, slots=True)
class EncodedUnit:
    """A unit's bytes. It holds no node: those go as soon as all is packed."""

    facts: UnitFacts
    pieces: Pieces
    form: int

    @property
    def raw(self) -> bytes:
        """Its bytes; long text is encoded anew each time."""
        return join(self.pieces)


@dataclass(frozen=True, slots=True)
class Encoded:
    """What could be saved, in the order given, and what could not, or not as what it was.

    `minor` is the version of the format that it takes to read it: a newer one when it holds placeholders of such.
    """

    units: tuple[EncodedUnit, ...]
    pools: tuple[EncodedPool, ...]
    losses: tuple[Loss, ...]
    minor: int = MINOR


def encode_units(
    sources: Sequence[Source], *, source_text: Mapping[CodeType, str] | None = None, limits: Limits = AGENT_LIMITS
) -> Encoded:
    """Look at values and encode them at once; see `nodes_of` and `encode`. Spec: SPEC-09.21"""
    return encode(nodes_of(sources, source_text=source_text, limits=limits), limits)


def encode(nodes: Nodes, limits: Limits = AGENT_LIMITS) -> Encoded:
    """Encode what values were when they were looked at.

    Args:
        limits: what whoever reads it again will accept; a value beyond is lost now and not then.

    Returns:
        Units in the order given, without those that are lost. Equal values give equal bytes in every process.

    Spec: SPEC-09.21
    """
    shared = [_shared_pool(pool, limits) for pool in nodes.shared]
    room = _Room(replace(limits, raw_bytes=limits.raw_bytes - sum(len(pool.raw) for pool in shared if pool)))
    losses: list[Loss] = []
    for unit in nodes.units:
        losses += unit.losses
        why = None if unit.is_lost else _put(unit, room, shared, limits)
        if why is not None:
            facts = unit.facts
            losses.append(Loss(facts.name, facts.name, facts.type_name, why, "lost"))
    used = {unit.facts.pool for unit in room.units}
    kept = [pool if number in used and pool else EncodedPool(b"") for number, pool in enumerate(shared)]
    return Encoded(*_renumbered(room.units, kept), tuple(losses), nodes.minor)


class _Room:
    """What one checkpoint may hold, and the units that found room in it."""

    def __init__(self, limits: Limits) -> None:
        self.units: list[EncodedUnit] = []
        self._raw_bytes, self._most = limits.raw_bytes, limits.units
        self._at_most = 0
        self._left_in_table = limits.table_bytes // 2  # the other half is the sections'

    def takes(self, unit: EncodedUnit) -> bool:
        """Whether there is room for it; then it is in."""
        texts = (unit.facts.name, unit.facts.type_name, unit.facts.preview)
        in_table = _ROW_BYTES + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        if len(self.units) >= self._most or in_table > self._left_in_table:
            return False
        size = bytes_at_most(unit.pieces)
        if self._at_most + size > self._raw_bytes:
            # Near the limit all are measured.
            self.units = [replace(each, pieces=(each.raw,)) for each in self.units]
            self._at_most = sum(bytes_at_most(each.pieces) for each in self.units)
            unit = replace(unit, pieces=(unit.raw,))
            size = bytes_at_most(unit.pieces)
            if self._at_most + size > self._raw_bytes:
                return False
        self._at_most += size
        self._left_in_table -= in_table
        self.units.append(unit)
        return True


def _put(unit: UnitNodes, room: _Room, shared: Sequence[EncodedPool | None], limits: Limits) -> str | None:
    """Encode a unit where there is room for it; else why it is lost."""
    try:
        pieces = _packed(unit, limits)
    except _PACK_ERRORS as e:
        return f"it can't be packed: {e}"[:MAX_REASON]
    if pieces is None:
        return f"it takes more than the {limits.section_bytes:,} bytes that are read again"
    if unit.facts.pool is not None and shared[unit.facts.pool] is None:
        return "what it shares with others is too large to be read again, or can't be packed"
    made = EncodedUnit(unit.facts, pieces, PLAIN if unit.own is None else POOLED)
    return None if room.takes(made) else "there is no room left in what one checkpoint may hold"


def _packed(unit: UnitNodes, limits: Limits) -> Pieces | None:
    """A unit's bytes; None when they are too many. Raises what the packer does."""
    if unit.own is not None:
        pool = _pack_pool(unit.own, unit.node, limits)
        return None if pool is None else (pool.raw,)
    pieces = pack_pieces(unit.node)
    if bytes_at_most(pieces) <= limits.section_bytes:
        return pieces
    raw = join(pieces)
    return (raw,) if len(raw) <= limits.section_bytes else None


def _shared_pool(pool: Pool, limits: Limits) -> EncodedPool | None:
    try:
        return _pack_pool(pool, None, limits)
    except _PACK_ERRORS:
        return None  # a loss of each that refers to it


def _pack_pool(pool: Pool, root: object, limits: Limits) -> EncodedPool | None:
    """The pool's bytes; with a root, that is the last object. None when it is too large."""
    heads = [*pool.heads, None] if root is not None else pool.heads
    bodies = [pack_plain(body) for body in pool.bodies]
    if root is not None:
        bodies.append(pack_plain(root))
    index = pack_plain([part for head, body in zip(heads, bodies, strict=True) for part in (head, len(body))])
    start = 4 + len(index)
    if start + sum(map(len, bodies)) > limits.section_bytes:
        return None
    spans = []
    for body in bodies:
        spans.append((start, len(body)))
        start += len(body)
    raw = b"".join([len(index).to_bytes(4, "little"), index, *bodies])
    return EncodedPool(raw, tuple(spans), tuple(map(frozenset, pool.links)))


def _renumbered(
    units: list[EncodedUnit], pools: list[EncodedPool]
) -> tuple[tuple[EncodedUnit, ...], tuple[EncodedPool, ...]]:
    """Leave out pools that no unit refers to any more."""
    kept = [number for number, pool in enumerate(pools) if pool.raw]
    new = {old: number for number, old in enumerate(kept)}
    moved = (
        unit if (pool := unit.facts.pool) is None else replace(unit, facts=replace(unit.facts, pool=new[pool]))
        for unit in units
    )
    return tuple(moved), tuple(pools[number] for number in kept)
