"""The summary of a file: that reading a whole row at once refuses what each field's own check refuses."""

from __future__ import annotations

from typing import cast

import msgpack
import pytest

from tests.tierdeck.checkpoint.sample import file_bytes
from tierdeck.checkpoint.file.header import HEADER_BYTES
from tierdeck.checkpoint.file.summary import parse_summary
from tierdeck.errors import DamagedCheckpointError

_ODD: list[object] = [
    None, True, -1, 0, 1, 2**40, 0.5, -0.5, float("nan"), float("inf"), "", "x", "a" * 16, "A" * 16, "ab" * 4,
    "manual", "x" * 201, "x" * 1_025, b"", b"x" * 16, [], {},
]  # fmt: skip
_COUNTS = ["turn", "depth", "variables", "lost", "inert", "messages", "events", "raw_bytes", "table_raw"]
_ALLOWED: dict[str, list[object]] = {
    "session": ["x", "a" * 16, "A" * 16, "ab" * 4, "manual", "x" * 201],
    "checkpoint": ["a" * 16],
    "parent": [None, "a" * 16],
    "branch": ["ab" * 4],
    "reason": ["manual"],
    "label": [None, "", "x", "a" * 16, "A" * 16, "ab" * 4, "manual"],
    "created_ns": [-1, 0, 1, 2**40],
    "cost_usd": [None, 0.5],
    "tokens": [None, 0, 1, 2**40],
    "table_digest": [b"x" * 16],
    **{name: [0, 1, 2**40] for name in _COUNTS},
}


def _fields() -> dict[str, object]:
    data = file_bytes()
    length = int.from_bytes(data[16:20], "little")
    return cast(
        "dict[str, object]",
        msgpack.unpackb(data[HEADER_BYTES : HEADER_BYTES + length], unicode_errors="surrogatepass"),
    )


def _is_read(name: str, value: object) -> bool:
    try:
        parse_summary(msgpack.packb(_fields() | {name: value}, unicode_errors="surrogatepass"), "x")
    except DamagedCheckpointError:
        return False
    return True


@pytest.mark.spec("SPEC-09.26")
@pytest.mark.parametrize("name", sorted(_ALLOWED))
def test_a_field_is_read_with_what_it_may_hold_and_with_nothing_else(name: str) -> None:
    read = [repr(value) for value in _ODD if _is_read(name, value)]
    assert sorted(read) == sorted(map(repr, _ALLOWED[name]))
