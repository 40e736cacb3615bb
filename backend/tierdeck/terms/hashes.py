"""Hashes, random ids and addresses: words that are looked for by their beginning, as `git log` shortens them. Pure.

As compound names they would fall into a dozen parts of a letter or two, with 42 runs of them that nobody wants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MIN_BEGINNING_CHARS = 4
KEPT_CHARS = 16  # tells one hash of a store from another, and what is typed beyond it is seen in the text
MAX_HASH_CHARS = 256
_MIXED_PARTS = 4
_ID_PARTS = 6
_ID_PART_CHARS = 2.5

# `git describe` puts a g before it. Letters alone are a word, digits alone a number.
_HASH = re.compile(r"g?((?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,}|0x[0-9a-f]{4,})", re.IGNORECASE)
_BEGINNING = re.compile(
    rf"(?=[a-z]*[0-9])[0-9a-z]{{{MIN_BEGINNING_CHARS},}}|[0-9a-f]{{{MIN_BEGINNING_CHARS},}}", re.IGNORECASE
)


def may_begin_hash(typed: str) -> bool:
    """Whether what was typed may be the beginning of a hash or an id."""
    return _BEGINNING.fullmatch(typed) is not None


def is_hash(word: str) -> bool:
    """Whether the word is written in hexadecimal digits, and neither a plain word nor a number."""
    return len(word) <= MAX_HASH_CHARS and _HASH.fullmatch(word) is not None


def is_of_crumbs(word: str, parts: Sequence[str]) -> bool:
    """Whether the parts of a word are too small to mean anything."""
    if is_hash(word):
        return len(parts) >= _MIXED_PARTS
    return len(parts) >= _ID_PARTS and len(word) < _ID_PART_CHARS * len(parts)


def hash_begins(word: str) -> Iterator[int]:
    """Where a hash or an id in pieces may be said to begin, as characters."""
    yield 0
    if word[0] in "gG" and is_hash(word):
        yield 1
