"""Text to words as FTS5's unicode61 tokenizer splits it. Pure.

unicode61 takes the general categories L*, N* and Co as letters and lets combining diacritics (U+0300 to U+036F)
ride on the letter before; everything else separates. The trap: what its tables, those of Unicode 6.1, don't know it
takes for a letter too. Some 2,200 pictographs and the bidi isolates are such, and a word that touches one is found
only by the look inside words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# What `\w` takes beyond unicode61's letters (the underscore, marks that are not diacritics) is cut off below.
_RUN = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*|[\ue000-\uf8ff]+")


def clean(text: str) -> str:
    """The text without what SQLite and terminals can't take: NUL and lone surrogates become spaces."""
    if text.isascii():
        return text.replace("\0", " ")
    return "".join(" " if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)


def split_words(text: str) -> list[str]:
    """The words of a text in their order, as typed, repeats kept."""
    if text.isascii():
        return _RUN.findall(text)
    return [text[start:end] for start, end in word_spans(text)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand, as (start, end) in characters."""
    spans: list[tuple[int, int]] = []
    start = -1
    for at, char in enumerate(text):
        if is_letter(char) or (start >= 0 and "\u0300" <= char <= "\u036f"):
            start = at if start < 0 else start
        elif start >= 0:
            spans.append((start, at))
            start = -1
    if start >= 0:
        spans.append((start, len(text)))
    return spans


def is_letter(char: str) -> bool:
    """Whether unicode61 takes the character as part of a word."""
    category = unicodedata.category(char)
    return category[0] in "LN" or category == "Co"


def distinct(words: Iterable[str]) -> tuple[str, ...]:
    """The words without those that differ from an earlier one only by case."""
    seen: dict[str, str] = {}
    for word in words:
        seen.setdefault(word.lower(), word)
    return tuple(seen.values())
