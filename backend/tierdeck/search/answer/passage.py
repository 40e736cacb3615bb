"""Which part of a long text a list shows: where most of what was looked for stands. Pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

Span = tuple[int, int]
# What comes before the first match, so that it is read in its sentence.
_LEAD_CHARS = 80


def passage_start(text: str, marks: Sequence[Span], chars: int) -> int:
    """Where the `chars` characters begin that hold the most different words of those marked.

    Args:
        marks: (start, end) offsets in `text`, in order, never overlapping.

    Returns:
        0 where the beginning holds as many as any part; else the start of a word shortly before the first of them,
        of several such parts that of the first.
    """
    words = [text[start:end].casefold() for start, end in marks]
    head = {word for word, (_, end) in zip(words, marks, strict=True) if end <= chars}
    best, most = 0, len(head)
    window: deque[int] = deque()
    counts: Counter[str] = Counter()
    for number, (_, end) in enumerate(marks):
        window.append(number)
        counts[words[number]] += 1
        while end - marks[window[0]][0] > chars - _LEAD_CHARS and len(window) > 1:
            gone = words[window.popleft()]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        if len(counts) > most:
            best, most = window[0], len(counts)
    return _word_before(text, marks[best][0]) if most > len(head) else 0


def marks_within(marks: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """Those of the marks that lie whole in that part of the text, as offsets in it."""
    return tuple((first - start, last - start) for first, last in marks if start <= first and last <= end)


def _word_before(text: str, at: int) -> int:
    """The start of a word that stands about `_LEAD_CHARS` before."""
    least = max(0, at - _LEAD_CHARS)
    blank = max(text.find(" ", least, at), text.rfind("\n", least, at))
    return blank + 1 if blank >= 0 else least
