"""Long text and bytes are referred to while the agent waits; joined, the bytes are those of packing all at once."""

from __future__ import annotations

from dataclasses import replace

import msgpack
import numpy as np
import pytest

from tierdeck.checkpoint.kinds.pieces import LONG_FROM, Long, bytes_at_most, join, pack_pieces, pack_plain
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.checkpoint.values.encode import encode_units
from tierdeck.checkpoint.values.nodes import Source

LONG_VALUES: list[str | bytes] = [
    "a" * LONG_FROM,
    "a" * 65_535,
    "a" * 65_536,
    "é" * LONG_FROM,
    "é" * 32_768,  # as UTF-8 just over what the short head counts
    "漢" * 50_000,
    "🜚" * 50_000,
    "\ud800" * LONG_FROM,
    b"\xff" * LONG_FROM,
    b"\x00" * 65_535,
    b"\x00" * 65_536,
]


def shown(value: str | bytes) -> str:
    """For the test's name."""
    return f"{len(value)} of {value[:1]!r}".encode("ascii", "backslashreplace").decode()


@pytest.mark.parametrize("value", LONG_VALUES, ids=shown)
def test_long_values_are_packed_as_msgpack_packs_them(value: str | bytes) -> None:
    whole = msgpack.packb([1, value, ["x", value], "end"], unicode_errors="surrogatepass")
    node = [1, Long(value), ["x", Long(value)], "end"]
    assert join(pack_pieces(node)) == whole
    assert pack_plain(node) == whole


@pytest.mark.parametrize("value", LONG_VALUES, ids=shown)
def test_the_bytes_are_never_more_than_was_counted_and_text_of_ascii_takes_no_more_than_a_head_less(
    value: str | bytes,
) -> None:
    pieces = pack_pieces([Long(value)])
    size = len(join(pieces))
    assert size <= bytes_at_most(pieces)
    if isinstance(value, bytes) or value.isascii():
        assert bytes_at_most(pieces) <= size + 2


def test_a_long_text_is_not_copied_before_the_pieces_are_joined() -> None:
    text, data = "long text é " * 1_000, bytes(10_000)
    [unit] = encode_units([Source("x", {"a": [text], "b": data})]).units
    assert any(piece is text for piece in unit.pieces)
    assert any(piece is data for piece in unit.pieces)


def test_an_array_that_is_changed_after_packing_is_saved_as_it_was() -> None:
    array = np.zeros(10_000, np.uint8)
    [unit] = encode_units([Source("x", [array])]).units
    before = unit.raw
    array[:] = 1
    assert unit.raw == before


def test_what_is_no_value_of_the_packer_is_refused_by_its_type() -> None:
    for pack in (pack_pieces, pack_plain):
        with pytest.raises(TypeError, match="set"):
            pack([1, {2}])


@pytest.mark.parametrize("text", ["a" * 60_000, "é" * 30_000, "漢" * 20_000], ids=["ascii", "latin", "han"])
def test_a_value_is_lost_for_its_size_only_when_its_bytes_are_too_many(text: str) -> None:
    # The text takes 60,000 bytes, its head 3, the list around it 2; counted from above it may be more.
    for limit, is_saved in ((60_005, True), (60_004, False)):
        encoded = encode_units([Source("x", [text])], limits=replace(AGENT_LIMITS, section_bytes=limit))
        assert (len(encoded.units), len(encoded.losses)) == ((1, 0) if is_saved else (0, 1))


def test_all_that_fits_is_saved_though_more_was_counted() -> None:
    texts = ["é" * (5_000 + number) for number in range(10)]
    sources = [Source(f"x{number}", text) for number, text in enumerate(texts)]
    exact = sum(len(text.encode()) + 3 for text in texts)
    limits = replace(AGENT_LIMITS, raw_bytes=exact)
    assert sum(map(bytes_at_most, (unit.pieces for unit in encode_units(sources).units))) > exact
    assert len(encode_units(sources, limits=limits).units) == 10
    short = encode_units(sources, limits=replace(limits, raw_bytes=exact - 1))
    assert [unit.facts.name for unit in short.units] == [f"x{number}" for number in range(9)]
    assert [loss.variable for loss in short.losses] == ["x9"]
