"""Which stems a mistyped word may have: a walk through a sorted list of words that skips what can't be near. Pure.

A wrong letter in its ending keeps a word from being stemmed (`idempotncy` ends up far from `idempot`), so a stem
is compared with each beginning of the word, and the rest counts a little.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from heapq import nsmallest

from tierdeck.terms.near_words import next_line

PAGE_WORDS = 64
# 4 letters of an ending weigh as much as one that is wrong.
_REST_WEIGHT = 0.25
# Two wrong letters among the first three are rare, and looking for them takes half of the time.
_HEAD_CHARS = 3
_LAST = "\U0010ffff"

Word = tuple[str, int]


def near_stems(word: str, words_from: Callable[[str], Sequence[Word]], most: int, limit: int) -> list[str]:
    """The stems that the word most probably has, best first, then the more frequent, then by the stem.

    Args:
        words_from: gives the next words in their order, with their frequency, from one on; at most `PAGE_WORDS`,
            and fewer only at the end of all.
        most: how many letters of the stem may be wrong.
    """
    walk = _Walk(word, most)
    found: list[tuple[float, int, str]] = []
    page, at = words_from(""), 0
    while at < len(page):
        term, rows = page[at]
        dead = walk.follow(term)
        if not dead:
            found.append((walk.cost(), -rows, term))
        at = at + 1 if not dead else bisect_left(page, (dead + _LAST,), at)
        if at == len(page) == PAGE_WORDS:
            page, at = words_from(dead + _LAST if dead else term + "\0"), 0
    return [term for _, _, term in nsmallest(limit, found)]


class _Walk:
    """The edit distances of each beginning of the term that was followed last; the next one shares some."""

    def __init__(self, word: str, most: int) -> None:
        self._word = word
        self._most = most
        self._term = ""
        self._lines = [list(range(len(word) + 1))]

    def follow(self, term: str) -> str:
        """Compare a term; the beginning of it that is too far off already, empty when none is."""
        shared = 0
        for a, b in zip(term, self._term[: len(self._lines) - 1], strict=False):
            if a != b:
                break
            shared += 1
        del self._lines[shared + 1 :]
        self._term = term
        for at in range(shared, len(term)):
            last = self._lines[-2] if at else []
            self._lines.append(next_line(term, at, self._word, self._lines[-1], last))
            if min(self._lines[-1]) > min(self._most, 1 if at < _HEAD_CHARS else self._most):
                return term[: at + 1]
        return ""

    def cost(self) -> float:
        """How far off the term is that was followed to its end."""
        line, chars = self._lines[-1], len(self._word)
        return min(edits + _REST_WEIGHT * (chars - at) for at, edits in enumerate(line) if edits <= self._most)
