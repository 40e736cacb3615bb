"""Sections compressed and back; a frame that promises too much is refused before anything is allocated."""

from __future__ import annotations

import resource

import pytest
import zstandard

from tierdeck.checkpoint.file.compression import STORED, ZSTD, compress, decompress
from tierdeck.checkpoint.limits import MB


def opened(stored: bytes, raw_bytes: int, codec: int = ZSTD, window_bytes: int = 128 * MB) -> bytes:
    return decompress(codec, stored, raw_bytes=raw_bytes, window_bytes=window_bytes)


@pytest.mark.case("K25")
@pytest.mark.parametrize("raw_bytes", [13, 64 * MB, 7161677109403190892])
def test_a_frame_that_declares_terabytes_is_refused(raw_bytes: int) -> None:
    with pytest.raises(ValueError, match=r"frame|decompress"):
        opened(bytes.fromhex("28b52ffde06c06060663636363"), raw_bytes)


@pytest.mark.case("K25")
def test_a_bomb_takes_no_memory() -> None:
    bomb = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(b"\0" * (512 * MB))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="does not declare"):
        opened(bomb, MB)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss == before


def test_frames_that_our_writer_does_not_make_are_refused() -> None:
    raw = b"abc" * 1000
    for made in (
        zstandard.ZstdCompressor(write_checksum=False).compress(raw),
        zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress(raw),
        zstandard.ZstdCompressor(write_checksum=True).compress(raw) + b"x",
        zstandard.ZstdCompressor(write_checksum=True).compress(raw)[:-1],
        b"",
        b"\x50\x2a\x4d\x18\x04\0\0\0skip",
    ):
        with pytest.raises(ValueError, match=r"frame|decompress"):
            opened(made, len(raw))


def test_a_window_above_the_limit_is_refused() -> None:
    raw = bytes(range(256)) * 8192
    made = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(raw)
    with pytest.raises(ValueError, match="window"):
        opened(made, len(raw), window_bytes=1024)


def test_every_flipped_bit_of_a_frame_is_found() -> None:
    raw = " ".join(map(str, range(3000))).encode()
    codec, stored = compress(raw)
    assert codec == ZSTD
    silent = 0
    for at in range(0, len(stored) * 8, 7):
        changed = bytearray(stored)
        changed[at // 8] ^= 1 << (at % 8)
        try:
            silent += opened(bytes(changed), len(raw)) != raw
        except ValueError:
            continue
    assert silent == 0


def test_what_gains_nothing_is_stored_as_it_is() -> None:
    assert compress(b"abc") == (STORED, b"abc")
    assert opened(b"abc", 3, STORED) == b"abc"
    with pytest.raises(ValueError, match="should be"):
        opened(b"abc", 4, STORED)
    with pytest.raises(ValueError, match="not known"):
        opened(b"abc", 3, 9)
