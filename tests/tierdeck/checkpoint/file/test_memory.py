"""What hostile bytes can make a reader take, measured in a process of its own: the limit, and little more."""

from __future__ import annotations

import itertools
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tierdeck.checkpoint import CONSOLE_LIMITS
from tierdeck.checkpoint.limits import MB

# An eighth of the console's section and memory: all of it would take 1.6 GB of whoever runs the tests.
_RAW_BYTES = CONSOLE_LIMITS.section_bytes // 8
_MEMORY_BYTES = CONSOLE_LIMITS.memory_bytes // 8
_MORE_BYTES = 8 * MB  # beside the bytes themselves; 64 MB are allowed with all of it
_REPEATED = {
    "text of two characters": b"\xa2ab",
    "text beyond Latin-1": b"\xa3\xe2\x82\xac",
    "one byte": b"\xc4\x01a",
    "numbers": b"\xcd\x7f\xff",
    "floats": b"\xcb" + bytes(8),
    "empty lists": b"\x91\x00",
    "tuples": b"\x92\x01\xc0",
    "dicts of one": b"\x93\x02\x00\xc0",
    "empty sets": b"\x91\x03",
    "frozensets": b"\x92\x04\x00",
    "deques": b"\x92\x05\xc0",
    "defaultdicts": b"\x92\x06\xc0",
    "counters of one": b"\x93\x07\x00\x00",
    "ordered dicts of one": b"\x93\x08\x00\xc0",
    "bytearrays": b"\x92\x1f\xc4\x00",
    "decimals": b"\x92\x12\xa11",
    "fractions": b"\x93\x13\x01\x01",
    "ranges": b"\x94\x14\x00\x01\x01",
    "spans": b"\x94\x19\x01\x01\x01",
    "ids": b"\x93\x1c\xc4\x10" + bytes(16) + b"\xc0",
    "paths": b"\x93\x1d\xadPurePosixPath\xa1a",
    "arrays": b"\x95\x28\xa3|u1\x92\x01\x00\xa1C\xc4\x00",
    "scalars": b"\x93\x29\xa3<f8\xc4\x08" + bytes(8),
    "records": b"\x93\x30\xa4enum\xa1a",
    "inert things": b"\x94\x31\xa6module\xa1a\xc0",
}


def _header(count: int) -> bytes:
    return b"\xdd" + struct.pack(">I", count)


def _list_of(item: bytes, things: int, memory_bytes: int) -> bytes:
    """As many as the bytes, and the limit as it is counted, let be read: a list of 88 bytes and 80 for each."""
    count = min(_RAW_BYTES // len(item), memory_bytes // (80 * things) - 10)
    return _header(count + 1) + b"\0" + item * count


def _table(tag: int, value: bytes) -> bytes:
    """One container of that tag with as many different keys of four letters."""
    letters = bytes(range(33, 127))
    keys = (b"\xa4" + bytes(each) + value for each in itertools.product(letters, repeat=4))
    things = 4 if tag == 8 else 2
    count = min(_RAW_BYTES // (5 + len(value)), _MEMORY_BYTES // (80 * things) - 10)
    return _header(2 * count + 1) + bytes([tag]) + b"".join(itertools.islice(keys, count))


def _taken(path: Path, raw: bytes) -> tuple[str, int]:
    path.write_bytes(raw)
    done = subprocess.run(
        [sys.executable, "-m", "tests.tierdeck.checkpoint.file.hostile_process", path, str(_MEMORY_BYTES)],
        capture_output=True,
        text=True,
        check=True,
    )
    said, grown = done.stdout.split()
    return said, int(grown)


@pytest.mark.case("K25")
@pytest.mark.spec("SPEC-09.23")
@pytest.mark.parametrize("name", sorted(_REPEATED))
def test_many_small_things_take_no_more_than_the_limit_and_their_own_bytes(name: str, tmp_path: Path) -> None:
    said, grown = _taken(tmp_path / "raw", _list_of(_REPEATED[name], 1, _MEMORY_BYTES))
    assert said in ("read", "CheckpointLimitError")
    assert grown <= _MEMORY_BYTES + _RAW_BYTES + _MORE_BYTES


@pytest.mark.case("K25")
@pytest.mark.spec("SPEC-09.23")
@pytest.mark.parametrize(("tag", "value"), [(2, b"\xa2ab"), (2, b"\xc0"), (7, b"\xc0"), (8, b"\xa2ab")])
def test_a_large_table_takes_no_more_than_the_limit_and_its_own_bytes(
    tag: int, value: bytes, tmp_path: Path
) -> None:
    _, grown = _taken(tmp_path / "raw", _table(tag, value))
    assert grown <= _MEMORY_BYTES + _RAW_BYTES + _MORE_BYTES
