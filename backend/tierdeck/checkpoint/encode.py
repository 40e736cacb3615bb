"""Values to bytes: the units of a checkpoint, each by itself, and the pools of what they share. Pure.

    encoded = encode_units([Source("x", [1, 2])])
    decode_unit(encoded.units[0].raw, form=encoded.units[0].form)

One variable that can't be saved is a loss in the result and nothing else; encoding never raises for a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType

from tierdeck.checkpoint.class_facts import type_name
from tierdeck.checkpoint.limits import AGENT_LIMITS, Limits
from tierdeck.checkpoint.loss import Loss
from tierdeck.checkpoint.pieces import Pieces, bytes_at_most, join, pack_pieces, pack_plain
from tierdeck.checkpoint.pools import Pool, Pools, settle
from tierdeck.checkpoint.preview import preview
from tierdeck.checkpoint.version import MINOR
from tierdeck.checkpoint.walk import Walk, Walked, note

PLAIN, POOLED = 0, 1  # the form of a unit: one value, or a pool whose last object is the value


@dataclass(frozen=True, slots=True)
class Source:
    """A value to be saved under its name; in a part, what can't be saved is replaced by a note."""

    name: str
    value: object
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class EncodedPool:
    """A pool's bytes, where in them each object's body lies, and which objects each refers to."""

    raw: bytes
    spans: tuple[tuple[int, int], ...] = ()
    links: tuple[frozenset[int], ...] = ()


@dataclass(frozen=True, slots=True)
class EncodedUnit:
    """A unit's bytes; `pool` is the number of the pool it refers to, `reaches` what it names there itself."""

    name: str
    is_part: bool
    pieces: Pieces
    form: int
    pool: int | None
    reaches: frozenset[int]
    type_name: str
    preview: str
    objects: int

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
    """Encode values that may share objects, and go in circles.

    Args:
        source_text: the text of functions by their code objects, for those whose text the caller knows.
        limits: what whoever reads it again will accept; a value beyond is lost now and not then.

    Returns:
        Units in the order given, without those that are lost. Equal values give equal bytes in every process.

    Spec: SPEC-09.21
    """
    walk = Walk(source_text or {}, limits.memory_bytes)
    for source in sources:
        walk.add(source.name, source.value, is_part=source.is_part)
    pools = settle(walk)
    encoded_pools = [_pack_pool(pool, None, limits) for pool in pools.shared]
    room = _Room(limits.raw_bytes - sum(len(pool.raw) for pool in encoded_pools if pool), limits.units)
    for number, (source, unit) in enumerate(zip(sources, walk.units, strict=True)):
        if not unit.is_lost:
            made = _pack_unit(number, source, unit, pools, encoded_pools, limits)
            if made is not None and not room.takes(made):
                note(unit, None, 0, source.value, "there is no room left in what one checkpoint may hold", "lost")
    units = room.units
    used = {unit.pool for unit in units}
    kept = [pool if number in used and pool else EncodedPool(b"") for number, pool in enumerate(encoded_pools)]
    return Encoded(
        *_renumbered(units, kept), tuple(loss for unit in walk.units for loss in unit.losses), walk.minor
    )


class _Room:
    """What one checkpoint may hold, and the units that found room in it."""

    def __init__(self, raw_bytes: int, units: int) -> None:
        self.units: list[EncodedUnit] = []
        self._raw_bytes, self._most = raw_bytes, units
        self._at_most = 0

    def takes(self, unit: EncodedUnit) -> bool:
        """Whether there is room for it; then it is in."""
        if len(self.units) >= self._most:
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
        self.units.append(unit)
        return True


def _pack_unit(
    number: int,
    source: Source,
    unit: Walked,
    pools: Pools,
    shared: Sequence[EncodedPool | None],
    limits: Limits,
) -> EncodedUnit | None:
    """None when the unit turns out to be too large: then its loss is noted."""
    pool, own = pools.pool_of_unit.get(number), pools.own.get(number)
    pieces = _pack_or_note(unit, source.value, own, limits)
    if pieces is not None and pool is not None and shared[pool] is None:
        note(unit, None, 0, source.value, "what it shares with others is too large to be read again", "lost")
        pieces = None
    if pieces is None:
        return None
    return EncodedUnit(
        source.name,
        source.is_part,
        pieces,
        PLAIN if own is None else POOLED,
        pool,
        frozenset(pools.reaches.get(number, ())),
        type_name(type(source.value)),
        preview(source.value),
        unit.objects,
    )


def _pack_or_note(unit: Walked, value: object, own: Pool | None, limits: Limits) -> Pieces | None:
    try:
        pooled = None if own is None else _pack_pool(own, unit.holder[0], limits)
        pieces = pack_pieces(unit.holder[0]) if own is None else (pooled.raw,) if pooled else None
        if pieces is not None and bytes_at_most(pieces) > limits.section_bytes:
            raw = join(pieces)
            pieces = (raw,) if len(raw) <= limits.section_bytes else None
    except (ValueError, TypeError, OverflowError, MemoryError) as e:
        note(unit, None, 0, value, f"it can't be packed: {e}", "lost")
        return None
    if pieces is None:
        why = f"it takes more than the {limits.section_bytes:,} bytes that are read again"
        note(unit, None, 0, value, why, "lost")
    return pieces


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
    moved = (unit if unit.pool is None else replace(unit, pool=new[unit.pool]) for unit in units)
    return tuple(moved), tuple(pools[number] for number in kept)
