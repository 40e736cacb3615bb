"""A table is taken only when every number in it fits the file."""

from __future__ import annotations

from dataclasses import replace

import msgpack
import pytest

from tests.tierdeck.checkpoint.sample import TIGHT
from tierdeck.checkpoint.file.table import (
    PART,
    POOL,
    UNITS,
    VARIABLE,
    Section,
    Table,
    UnitEntry,
    pack_table,
    parse_table,
)
from tierdeck.errors import CheckpointLimitError, DamagedCheckpointError

DIGEST = bytes(16)
FIRST = Section(UNITS, 1, 0, 10, 30, DIGEST, DIGEST)
SECOND = Section(POOL, 0, 10, 5, 5, DIGEST, DIGEST)
A = UnitEntry(VARIABLE, "a", 0, 0, 10, 0, None, DIGEST, "int", "1", 0)
B = UnitEntry(PART, "messages", 0, 10, 20, 1, 1, DIGEST, "list", "list of 0", 1)
SOUND = Table((FIRST, SECOND), (A, B))


def parsed(table: Table, *, is_newer: bool = False, raw: bytes | None = None) -> Table:
    return parse_table(raw or pack_table(table), sections_bytes=15, is_newer=is_newer, limits=TIGHT, name="x")


def test_a_sound_table_comes_back() -> None:
    assert parsed(SOUND) == SOUND
    assert parsed(SOUND).variables == (A,)


@pytest.mark.parametrize(
    "table",
    [
        replace(SOUND, sections=(FIRST, replace(SECOND, offset=9))),
        replace(SOUND, sections=(FIRST, replace(SECOND, offset=11))),
        replace(SOUND, sections=(FIRST, replace(SECOND, stored_bytes=6))),
        replace(SOUND, sections=(replace(FIRST, raw_bytes=31), SECOND)),
        replace(SOUND, sections=(replace(FIRST, raw_bytes=29), SECOND)),
        replace(SOUND, sections=(replace(FIRST, kind="other"), SECOND)),
        replace(SOUND, sections=(replace(FIRST, raw_digest=b"short"), SECOND)),
        replace(SOUND, sections=(replace(FIRST, codec=-1), SECOND)),
        replace(SOUND, units=(A, replace(B, start=9))),
        replace(SOUND, units=(A, replace(B, start=0, raw_bytes=30))),
        replace(SOUND, units=(A, replace(B, kind=VARIABLE, name="a"))),
        replace(SOUND, units=(A, replace(B, section=2))),
        replace(SOUND, units=(A, replace(B, section=1, start=0, raw_bytes=5))),
        replace(SOUND, units=(A, replace(B, pool=0))),
        replace(SOUND, units=(A, replace(B, pool=7))),
        replace(SOUND, units=(A, replace(B, form=2))),
        replace(SOUND, units=(A, replace(B, kind="other"))),
        replace(SOUND, units=(A, replace(B, digest=b""))),
        replace(SOUND, units=(A,)),
    ],
    ids=range(19),
)
def test_a_table_that_does_not_fit_the_file_is_damage(table: Table) -> None:
    with pytest.raises(DamagedCheckpointError, match="its table is damaged"):
        parsed(table)


def test_units_that_go_back_to_an_earlier_section_are_damage() -> None:
    """Each change of section would be decompressed anew: a hundred thousand names could take hours."""
    other = replace(FIRST, offset=10, stored_bytes=5)
    units = (A, replace(A, name="b", section=1, raw_bytes=30), replace(A, name="c", start=10, raw_bytes=20))
    with pytest.raises(DamagedCheckpointError, match="out of order"):
        parsed(Table((FIRST, other), units))


@pytest.mark.parametrize(
    "raw",
    [
        b"\x05",
        b"\xc1",
        b"\x92\x01",
        msgpack.packb([0, 0]) + b"\x05",
        msgpack.packb([1, 0]) + msgpack.packb([[1], 1, 0, 15, 30, DIGEST, DIGEST]),
        msgpack.packb([1, 0]) + msgpack.packb([{"a": 1}, 1, 0, 15, 30, DIGEST, DIGEST]),
        msgpack.packb([1, 0]) + msgpack.packb(["units", True, 0, 15, 30, DIGEST, DIGEST]),
        msgpack.packb([-1, 0]),
        msgpack.packb(["1", 0]),
        msgpack.packb([1, 0]),
        b"\xdd\xff\xff\xff\xff" * 50,
    ],
    ids=repr,
)
def test_bytes_that_are_no_table_are_damage(raw: bytes) -> None:
    with pytest.raises(DamagedCheckpointError, match="its table is damaged"):
        parsed(SOUND, raw=raw)


def test_a_count_beyond_the_limit_is_refused_before_the_rows_are_read() -> None:
    with pytest.raises(CheckpointLimitError, match="2,000,000 units, the limit is 100,000"):
        parsed(SOUND, raw=msgpack.packb([0, 2_000_000]))


def test_fields_and_kinds_that_a_newer_minor_version_added_are_let_through() -> None:
    longer = b"".join(
        [
            msgpack.packb([1, 1, "more"]),
            msgpack.packb(["units", 0, 0, 15, 15, DIGEST, DIGEST, "more"]),
            msgpack.packb(["view", "layout", 0, 0, 15, 4, None, DIGEST, "?", "", 0, 5, "more"]),
        ]
    )
    [unit] = parsed(SOUND, is_newer=True, raw=longer).units
    assert unit.kind == "view"
