"""Which words are near to a mistyped one: by the fewest letters added, left out, changed or swapped. Pure."""

from __future__ import annotations

from collections.abc import Iterable

MAX_NEAR = 3
MIN_CHARS = 3


def most_edits(word: str) -> int:
    """How many wrong letters a word of that length may have to be taken for another."""
    return 0 if len(word) < MIN_CHARS else 1 if len(word) < 6 else 2


def near_words(word: str, words: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """The words nearest to this one, at most `MAX_NEAR`: nearest first, then the more frequent, then by the word.

    Args:
        words: those to choose from, each with its frequency.
    """
    most = most_edits(word)
    letters = set(word)
    found: list[tuple[int, int, str]] = []
    for other, rows in words:
        if other == word or abs(len(other) - len(word)) > most:
            continue
        if len(letters.symmetric_difference(other)) > 2 * most:
            continue
        edits = _edits(word, other, most)
        if edits <= most:
            found.append((edits, -rows, other))
    return tuple(other for _, _, other in sorted(set(found))[:MAX_NEAR])


def _edits(a: str, b: str, most: int) -> int:
    """The edit distance with swaps of neighbours; `most` + 1 when it is more than that."""
    before: list[int] = []
    line = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        before, last, line = line, before, [i]
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, line[j - 1] + 1, before[j - 1] + (char != other))
            if i > 1 and j > 1 and char == b[j - 2] and a[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            line.append(cost)
        if min(line) > most:
            return most + 1
    return line[-1]
