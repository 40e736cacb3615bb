"""The table of a file: where each section lies, and which unit lies where in it. Pure.

A stream of flat arrays of scalars, so that a hostile one can't claim more than it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgpack

from tierdeck.checkpoint.limits import Limits
from tierdeck.errors import CheckpointLimitError, DamagedCheckpointError

UNITS, POOL = "units", "pool"
VARIABLE, PART = "variable", "part"
MEMORY, MESSAGES, TRAJECTORY, PENDING, CELLS, LOST = (
    "working_memory", "messages", "trajectory", "pending", "cells", "lost",
)  # fmt: skip
PARTS = (MEMORY, MESSAGES, TRAJECTORY, PENDING, CELLS, LOST)
DIGEST_BYTES = 16
MAX_NAME_CHARS = 1_024
_MAX_TEXT = 4_096
_SECTION_KINDS = [str, int, int, int, int, bytes, bytes]
_UNIT_KINDS = [
    [str, str, int, int, int, int, pool, bytes, str, str, int] for pool in (type(None), int)
]  # fmt: skip
_SECTION_FIELDS, _UNIT_FIELDS = len(_SECTION_KINDS), len(_UNIT_KINDS[0])
_MAX_FIELDS = 64


@dataclass(frozen=True, slots=True)
class Section:
    """A run of bytes of the file; `offset` counts from the end of the table. Spec: SPEC-09.22"""

    kind: str
    codec: int
    offset: int
    stored_bytes: int
    raw_bytes: int
    stored_digest: bytes
    raw_digest: bytes


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """One variable or part: its range in a section's raw bytes, and what a list shows of it.

    `digest` is that of its meaning: equal ones are equal values. `pool` is the number of the section whose objects
    it refers to.
    """

    kind: str
    name: str
    section: int
    start: int
    raw_bytes: int
    form: int
    pool: int | None
    digest: bytes
    type_name: str
    preview: str
    objects: int


@dataclass(frozen=True, slots=True)
class Table:
    """All sections in the order of the file, all units in the order of the session."""

    sections: tuple[Section, ...]
    units: tuple[UnitEntry, ...]

    @property
    def variables(self) -> tuple[UnitEntry, ...]:
        """The variables alone."""
        return tuple(unit for unit in self.units if unit.kind == VARIABLE)


def pack_table(table: Table) -> bytes:
    """The table's raw bytes."""
    packer = msgpack.Packer(strict_types=True, unicode_errors="surrogatepass")
    rows: list[list[object]] = [[len(table.sections), len(table.units)]]
    rows += [
        [s.kind, s.codec, s.offset, s.stored_bytes, s.raw_bytes, s.stored_digest, s.raw_digest]
        for s in table.sections
    ]
    for u in table.units:
        place = [u.kind, u.name, u.section, u.start, u.raw_bytes, u.form, u.pool]
        rows.append([*place, u.digest, u.type_name, u.preview, u.objects])
    return b"".join(packer.pack(row) for row in rows)


def parse_table(raw: bytes, *, sections_bytes: int, is_newer: bool, limits: Limits, name: str) -> Table:
    """The table, every number in it checked against the file and the limits.

    Args:
        sections_bytes: how long all sections are together, from the header.
        is_newer: a newer minor version wrote it: kinds that are not known are let through.

    Raises:
        DamagedCheckpointError: sections overlap, leave gaps or lie outside, or a unit does.
        CheckpointLimitError: more sections, units or bytes than the limits allow.
    """
    try:
        table = _table(_rows(raw), limits, name)
        _check_sections(table, sections_bytes, is_newer)
        _check_units(table, is_newer)
    except (ValueError, TypeError, OverflowError, msgpack.OutOfData) as e:
        raise DamagedCheckpointError(f"read checkpoint {name}: its table is damaged ({str(e)[:100]})") from e
    _check_sizes(table, limits, name)
    return table


def _rows(raw: bytes) -> Iterator[list[Any]]:
    """The arrays one after the other; an array or a map inside one is refused before it is made."""
    stream = msgpack.Unpacker(
        max_buffer_size=len(raw) + 1, max_array_len=0, max_map_len=0, max_ext_len=0, max_str_len=_MAX_TEXT,
        max_bin_len=_MAX_TEXT, unicode_errors="surrogatepass",
    )  # fmt: skip
    stream.feed(raw)
    while stream.tell() < len(raw):
        count = stream.read_array_header()
        if count > _MAX_FIELDS:
            raise ValueError(f"a row of {count} fields")
        yield [stream.unpack() for _ in range(count)]


def _table(rows: Iterator[list[Any]], limits: Limits, name: str) -> Table:
    counts = next(rows, [])
    if len(counts) < 2 or not all(type(n) is int and n >= 0 for n in counts[:2]):
        raise ValueError("it does not say how much it holds")
    for what, count, limit in (("sections", counts[0], limits.sections), ("units", counts[1], limits.units)):
        if count > limit:
            raise CheckpointLimitError(f"read checkpoint {name}: {count:,} {what}, the limit is {limit:,}")
    sections = tuple(_section(next(rows, [])) for _ in range(counts[0]))
    units = tuple(_unit(next(rows, [])) for _ in range(counts[1]))
    if next(rows, None) is not None:
        raise ValueError("it goes on after its end")
    return Table(sections, units)


def _section(row: list[Any]) -> Section:
    if list(map(type, row[:_SECTION_FIELDS])) != _SECTION_KINDS:
        raise ValueError("a section with other fields")
    section = Section(*row[:_SECTION_FIELDS])
    if min(section.codec, section.offset, section.stored_bytes, section.raw_bytes) < 0:
        raise ValueError("a section of less than nothing")
    if {len(section.stored_digest), len(section.raw_digest)} != {DIGEST_BYTES}:
        raise ValueError("a section without its digests")
    return section


def _unit(row: list[Any]) -> UnitEntry:
    if list(map(type, row[:_UNIT_FIELDS])) not in _UNIT_KINDS:
        raise ValueError("a unit with other fields")
    unit = UnitEntry(*row[:_UNIT_FIELDS])
    if (
        min(unit.section, unit.start, unit.raw_bytes, unit.form, unit.objects) < 0
        or len(unit.digest) != DIGEST_BYTES
    ):
        raise ValueError("a unit of less than nothing")
    return unit


def _check_sections(table: Table, sections_bytes: int, is_newer: bool) -> None:
    end = 0
    for section in table.sections:
        if section.offset != end:
            raise ValueError("sections that overlap or leave a gap")
        if not is_newer and section.kind not in (UNITS, POOL):
            raise ValueError(f"a section of the kind {section.kind[:40]!r}")
        end += section.stored_bytes
    if end != sections_bytes:
        raise ValueError("sections that lie outside the file")


def _check_units(table: Table, is_newer: bool) -> None:
    seen = set()
    section_before = 0
    ends = [0] * len(table.sections)
    for unit in table.units:
        if unit.section >= len(table.sections) or (unit.kind, unit.name) in seen:
            raise ValueError(f"a unit without a section, or twice: {unit.name[:40]!r}")
        # In the order of the file: each section is decompressed once when all are read.
        if unit.section < section_before:
            raise ValueError(f"a unit out of order: {unit.name[:40]!r}")
        section_before = unit.section
        seen.add((unit.kind, unit.name))
        section = table.sections[unit.section]
        # Nothing twice: a hundred thousand names for the same bytes would take as many times as long to read.
        if unit.start != ends[unit.section] or section.kind != UNITS:
            raise ValueError(f"a unit that lies where it should not: {unit.name[:40]!r}")
        ends[unit.section] += unit.raw_bytes
        if not is_newer and (unit.kind not in (VARIABLE, PART) or unit.form > 1):
            raise ValueError(f"a unit of the kind {unit.kind[:40]!r}")
        if unit.pool is not None and not _is_pool(table, unit.pool):
            raise ValueError(f"a unit that refers to no pool: {unit.name[:40]!r}")
    if any(s.kind == UNITS and end != s.raw_bytes for s, end in zip(table.sections, ends, strict=True)):
        raise ValueError("a section that is longer or shorter than what is in it")


def _is_pool(table: Table, number: object) -> bool:
    return type(number) is int and 0 <= number < len(table.sections) and table.sections[number].kind == POOL


def _check_sizes(table: Table, limits: Limits, name: str) -> None:
    total = sum(section.raw_bytes for section in table.sections)
    if total > limits.raw_bytes:
        raise CheckpointLimitError(
            f"read checkpoint {name}: its sections take {total:,} bytes, the limit is {limits.raw_bytes:,}"
        )
