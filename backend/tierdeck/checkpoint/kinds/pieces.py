"""Bytes in pieces: a node packed, and between its parts the long text in it, not yet encoded. Pure.

Text and bytes never change, so while the agent waits a long one is only referred to. It is encoded and copied when
the pieces are joined, on the thread that seals: most of a session's bytes are a few long texts.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import msgpack

Pieces = tuple[bytes | memoryview | str, ...]
"""In order: bytes as they are, and text that is packed when they are joined."""

LONG_FROM = 4_096  # below it, packing a copy costs less than a piece more
# Stands in the packed bytes where a long value goes. Drawn anew in each process: no value can contain it.
_MARK = msgpack.ExtType(0, os.urandom(16))
_PACKED_MARK: bytes = msgpack.packb(_MARK)
_SHORT = 1 << 16  # from this length on, the format has another head
_HEAD_BYTES = 5
_VIEWED_FROM = 256 * 1024  # the packer's own buffer is at least so large


@dataclass(frozen=True, slots=True)
class Long:
    """A long text or bytes in a node, in place of the value."""

    value: str | bytes


def pack_pieces(node: object) -> Pieces:
    """A node, or any value of msgpack's own types, and `Long` ones in it; joined, they are what `pack_plain` gives.

    Raises:
        ValueError, TypeError, OverflowError: something in it can't be packed.
    """
    found: list[Long] = []

    def mark(item: object) -> msgpack.ExtType:
        found.append(_long(item))
        return _MARK

    packer = msgpack.Packer(strict_types=True, unicode_errors="surrogatepass", default=mark, autoreset=False)
    packer.pack(node)
    if not found:
        packed = packer.getbuffer()
        # A copy of megabytes takes as long as packing them: it is made when they are joined.
        return (packed if len(packed) >= _VIEWED_FROM else bytes(packed),)
    first, *rest = packer.bytes().split(_PACKED_MARK)
    pieces: list[bytes | memoryview | str] = [first]
    for each, part in zip(found, rest, strict=True):
        if type(each.value) is bytes:
            pieces.append(_head(b"\xc5", b"\xc6", len(each.value)))
        pieces += (each.value, part)
    return tuple(pieces)


def pack_plain(node: object) -> bytes:
    """The same in one piece."""
    # Not the packer's own UTF-8: it keeps a second copy of every text that is not ASCII inside the agent's strings.
    data: bytes = msgpack.packb(node, strict_types=True, unicode_errors="surrogatepass", default=_value)
    return data


def bytes_at_most(pieces: Pieces) -> int:
    """How many bytes they are when joined, or a few more: text is not encoded to know."""
    return sum(_text_at_most(each) if isinstance(each, str) else len(each) for each in pieces)


def join(pieces: Pieces) -> bytes:
    """All of them in one.

    Raises:
        OverflowError: a text of 4 GiB or more, for which the format has no head.
    """
    parts: list[bytes | memoryview] = []
    for each in pieces:
        if isinstance(each, str):
            text = each.encode("utf-8", "surrogatepass")
            parts += (_head(b"\xda", b"\xdb", len(text)), text)
        else:
            parts.append(each)
    return b"".join(parts)  # of one, that one itself


def _long(item: object) -> Long:
    if type(item) is not Long:
        raise TypeError(f"can not serialize {type(item).__name__!r} object")
    return item


def _value(item: object) -> str | bytes:
    return _long(item).value


def _text_at_most(text: str) -> int:
    if text.isascii():
        return len(text) + _HEAD_BYTES
    # The interpreter keeps a text with 1, 2 or 4 bytes a character, which are at most 2, 3 and 4 bytes of UTF-8.
    width = sys.getsizeof(text) // len(text)
    return len(text) * min(width + 1, 4) + _HEAD_BYTES


def _head(short: bytes, long: bytes, size: int) -> bytes:
    """What msgpack writes before text or bytes of so many bytes."""
    return short + size.to_bytes(2, "big") if size < _SHORT else long + size.to_bytes(4, "big")
