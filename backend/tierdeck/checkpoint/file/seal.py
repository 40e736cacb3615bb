"""A packed checkpoint into the bytes of a file: grouped, compressed, hashed. Pure; for a background thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from tierdeck.checkpoint.checkpoint import Unread
from tierdeck.checkpoint.file.beside import Beside
from tierdeck.checkpoint.file.compression import STORED, compress
from tierdeck.checkpoint.file.header import TRAILER_BYTES, pack_head
from tierdeck.checkpoint.file.pack import Packed
from tierdeck.checkpoint.file.summary import pack_summary
from tierdeck.checkpoint.file.table import (
    DIGEST_BYTES,
    PART,
    POOL,
    UNITS,
    VARIABLE,
    Section,
    Table,
    UnitEntry,
    pack_table,
)
from tierdeck.checkpoint.limits import AGENT_LIMITS, MB
from tierdeck.checkpoint.values.encode import EncodedPool, EncodedUnit
from tierdeck.errors import InvalidValueError

MAX_KEY_BYTES = 64
SMALL_BYTES = 16 * 1024  # a unit below it is compressed together with others
_BESIDE_FROM_BYTES = MB
GROUP_BYTES = 256 * 1024  # so much a group holds: it is read whole for one small variable


@dataclass(frozen=True, slots=True)
class Sealed:
    """A file's bytes in pieces, ready to be written one after the other."""

    pieces: tuple[bytes, ...]
    trailer: bytes

    @property
    def file_bytes(self) -> int:
        """How long the file is."""
        return sum(map(len, self.pieces))


def seal(packed: Packed, *, key: bytes | None = None) -> Sealed:
    """The bytes of the file.

    Args:
        key: the operator's, 1 to 64 bytes: then nobody without it can make or change a file that verifies.

    Raises:
        InvalidValueError: session id or label is none that can be listed, or the key is too long or empty.

    Spec: SPEC-09.22
    """
    if key is not None and not 1 <= len(key) <= MAX_KEY_BYTES:
        raise InvalidValueError(f"write checkpoint: a key of {len(key)} bytes; 1 to {MAX_KEY_BYTES} are allowed")
    builder = _built(packed)
    raw_table = pack_table(Table(tuple(builder.sections), tuple(builder.units)))
    if len(raw_table) > AGENT_LIMITS.table_bytes:
        raise InvalidValueError(
            f"write checkpoint: a table of {len(raw_table):,} bytes, the limit is {AGENT_LIMITS.table_bytes:,}",
            hint="there are too many variables with long names",
        )
    _, table = compress(raw_table, always=True)
    summary = replace(
        packed.summary,
        raw_bytes=sum(section.raw_bytes for section in builder.sections),
        table_raw_bytes=len(raw_table),
        table_digest=_digest(table),
    )
    head = pack_head(
        pack_summary(summary),
        table_bytes=len(table),
        sections_bytes=builder.end,
        is_keyed=key is not None,
        minor=packed.minor,
    )
    trailer = trailer_of((head, table, *builder.stored), key)
    return Sealed((head, table, *builder.stored, trailer), trailer)


def trailer_of(pieces: Iterable[bytes | memoryview], key: bytes | None) -> bytes:
    """The trailer of a file that consists of these pieces."""
    digest = blake2b(key=key or b"", digest_size=TRAILER_BYTES)
    for piece in pieces:
        digest.update(piece)
    return digest.digest()


def _built(packed: Packed) -> _Builder:
    """All sections, compressed and hashed, and the units in them."""
    groups = _groups(packed.units)
    raws = [pool.raw for pool in packed.pools]
    raws += [b"".join([raw for _, raw in group]) for group in groups]
    raws += [unread.raw for unread in packed.unread]
    builder = _Builder(_stored(raws))
    pool_sections = [builder.add_section(POOL) for _ in packed.pools]
    bodies = [_BodyDigests(pool) for pool in packed.pools]
    for group in groups:
        builder.add_units(group, pool_sections, bodies)
    for unread in packed.unread:
        builder.add_unread(unread)
    return builder


@dataclass(frozen=True, slots=True)
class _Stored:
    """A section as it is written."""

    codec: int
    data: bytes
    raw_bytes: int
    digest: bytes
    raw_digest: bytes


def _stored(raws: Sequence[bytes]) -> list[_Stored]:
    """All sections compressed and hashed; many bytes on two threads: both let go of the interpreter's lock."""
    made: dict[int, _Stored] = {}
    todo = deque(sorted(range(len(raws)), key=lambda number: -len(raws[number])))

    def work() -> None:
        while True:
            try:
                number = todo.popleft()
            except IndexError:
                return
            made[number] = _compressed(raws[number])

    other = Beside(work) if sum(map(len, raws)) >= _BESIDE_FROM_BYTES else None
    work()
    if other is not None:
        other.result()
    return [made[number] for number in range(len(raws))]


def _compressed(raw: bytes) -> _Stored:
    codec, data = compress(raw)
    raw_digest = _digest(raw)
    return _Stored(codec, data, len(raw), raw_digest if codec == STORED else _digest(data), raw_digest)


class _Builder:
    """Sections and units in the order they are added, with the places they take.

    Args:
        sections: all of them, in that order.
    """

    def __init__(self, sections: Sequence[_Stored]) -> None:
        self.sections: list[Section] = []
        self.units: list[UnitEntry] = []
        self.stored = [section.data for section in sections]
        self.end = 0
        self._sections = sections

    def add_section(self, kind: str) -> int:
        number = len(self.sections)
        made = self._sections[number]
        self.sections.append(
            Section(kind, made.codec, self.end, len(made.data), made.raw_bytes, made.digest, made.raw_digest)
        )
        self.end += len(made.data)
        return number

    def add_units(
        self,
        units: Sequence[tuple[EncodedUnit, bytes]],
        pool_sections: Sequence[int],
        bodies: Sequence[_BodyDigests],
    ) -> None:
        section, start = self.add_section(UNITS), 0
        for unit, raw in units:
            facts = unit.facts
            if facts.pool is None:
                meaning = self.sections[section].raw_digest if len(units) == 1 else _digest(raw)
            else:
                meaning = _meaning(raw, facts.reaches, bodies[facts.pool])
            self.units.append(
                UnitEntry(
                    PART if facts.is_part else VARIABLE,
                    facts.name,
                    section,
                    start,
                    len(raw),
                    unit.form,
                    None if facts.pool is None else pool_sections[facts.pool],
                    meaning,
                    facts.type_name,
                    facts.preview,
                    facts.objects,
                )
            )
            start += len(raw)

    def add_unread(self, unread: Unread) -> None:
        section = self.add_section(unread.kind if unread.name is None else UNITS)
        if unread.name is not None:
            digest, size = self.sections[section].raw_digest, len(unread.raw)
            self.units.append(
                UnitEntry(unread.kind, unread.name, section, 0, size, unread.form, None, digest, "?", "", 0)
            )


class _BodyDigests:
    """The digests of a pool's objects, each worked out once and only when somebody refers to it."""

    def __init__(self, pool: EncodedPool) -> None:
        self._raw = memoryview(pool.raw)
        self._pool = pool
        self._made: dict[int, bytes] = {}

    def of(self, number: int) -> bytes:
        if number not in self._made:
            start, length = self._pool.spans[number]
            self._made[number] = _digest(self._raw[start : start + length])
        return self._made[number]

    def reached(self, numbers: Iterable[int]) -> list[int]:
        """All objects that these lead to, themselves included, by rising number."""
        found: set[int] = set()
        todo = list(numbers)
        while todo:
            number = todo.pop()
            if number not in found:
                found.add(number)
                todo += self._pool.links[number]
        return sorted(found)


def _meaning(raw: bytes, reaches: Iterable[int], bodies: _BodyDigests) -> bytes:
    digest = blake2b(raw, digest_size=DIGEST_BYTES)
    for number in bodies.reached(reaches):
        digest.update(number.to_bytes(4, "little") + bodies.of(number))
    return digest.digest()


def _groups(units: Sequence[EncodedUnit]) -> list[list[tuple[EncodedUnit, bytes]]]:
    """Units with their bytes. Neighbours that are small go together; the order stays."""
    groups: list[list[tuple[EncodedUnit, bytes]]] = []
    size = GROUP_BYTES
    for unit in units:
        raw = unit.raw
        is_small = len(raw) < SMALL_BYTES
        if not is_small or size + len(raw) > GROUP_BYTES:
            groups.append([])
            size = 0
        groups[-1].append((unit, raw))
        size = size + len(raw) if is_small else GROUP_BYTES
    return groups


def _digest(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest()
