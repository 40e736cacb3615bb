"""Which words are near to a mistyped one: by the fewest letters added, left out, changed or swapped. Pure."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from tierdeck.terms.scripts import UNSPACED

MAX_NEAR = 3
MIN_CHARS = 3
# Letters come in blocks of so many: Cyrillic, Greek, Arabic, Hebrew each have theirs.
_BLOCK = 128
MAX_SPELLINGS = 2_500


def most_edits(word: str) -> int:
    """How many wrong letters a word of that length may have to be taken for another."""
    return 0 if len(word) < MIN_CHARS else 1 if len(word) < 6 else 2


def folded(text: str) -> str:
    """A word in lower case, without the diacritics of Latin letters: those of others (`й`) the index keeps too."""
    if text.isascii():
        return text.lower()
    plain = "".join(map(_without_diacritics, unicodedata.normalize("NFC", text.lower())))
    return "".join(char for char in plain if not unicodedata.combining(char))


def _without_diacritics(char: str) -> str:
    base = unicodedata.normalize("NFD", char)[0]
    return base if base.isascii() else char


def one_edit_away(word: str) -> list[str]:
    """Every spelling that one letter added, left out, changed or swapped makes of a folded word, each once.

    Letters that are put in are of the word's own script: some 550 spellings of a Latin word of ten letters. None
    are put into a script that is written without spaces. Where there would be more than `MAX_SPELLINGS`, letters
    that the word has itself are put in, and where that is too many as well, none.
    """
    letters = sorted(_letters(word))
    if 2 * len(letters) * len(word) > MAX_SPELLINGS:
        letters = sorted(set(word)) if 2 * len(set(word)) * len(word) <= MAX_SPELLINGS else []
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = dict.fromkeys(before + rest[1] + rest[0] + rest[2:] for before, rest in cuts if len(rest) > 1)
    found.update(dict.fromkeys(before + rest[1:] for before, rest in cuts if rest))
    for before, rest in cuts:
        found.update(dict.fromkeys(before + letter + rest for letter in letters))
        if rest:
            found.update(dict.fromkeys(before + letter + rest[1:] for letter in letters))
    found.pop(word, None)
    found.pop("", None)
    return list(found)


def _letters(word: str) -> Iterable[str]:
    return frozenset().union(*map(_alike, word))


@cache
def _alike(char: str) -> frozenset[str]:
    """The letters that may have been meant instead of this one."""
    if char.isascii():
        return frozenset(string.digits if char.isdigit() else string.ascii_lowercase)
    if UNSPACED.match(char):
        return frozenset()
    first = ord(char) - ord(char) % _BLOCK
    block = map(chr, range(first, first + _BLOCK))
    return frozenset(letter for letter in block if letter.isalpha() and letter == folded(letter))


def edits(a: str, b: str, most: int) -> int:
    """The edit distance with swaps of neighbours; `most` + 1 when it is more than that."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    line = list(range(len(b) + 1))
    for at in range(len(a)):
        before, line = line, next_line(a, at, b, line, before)
        if min(line) > most:
            return most + 1
    return min(line[-1], most + 1)


def next_line(a: str, at: int, b: str, before: list[int], last: list[int]) -> list[int]:
    """By how many edits `a` up to and with letter `at` differs from each beginning of `b`, the empty one first.

    Args:
        before: the same of `a` without that letter.
        last: of `a` without that letter and the one before; anything for the first letter.
    """
    char, previous = a[at], a[at - 1] if at else ""
    line = [at + 1]
    for j, (other_before, other) in enumerate(pairwise(" " + b)):
        cost = min(before[j + 1] + 1, line[j] + 1, before[j] + (char != other))
        if at and j and char == other_before and previous == other:
            cost = min(cost, last[j - 1] + 1)
        line.append(cost)
    return line
