"""Which part of a long text a list shows: where most of what was looked for stands. Pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from tierdeck.search.answer.marks import Span
from tierdeck.search.query.tokens import Token

# What comes before the first match, so that it is read in its sentence.
_LEAD_CHARS = 80


def passage_start(text: str, found: Sequence[Token], chars: int) -> int:
    """Where the `chars` characters begin that hold the most different words of those found.

    Args:
        found: in the order of their starts.

    Returns:
        0 where the beginning holds as many as any part; else the start of a word shortly before the first of them,
        of several such parts that of the first.
    """
    head = {token.text for token in found if token.end <= chars}
    best, most = 0, len(head)
    window: deque[Token] = deque()
    counts: Counter[str] = Counter()
    for token in found:
        window.append(token)
        counts[token.text] += 1
        while token.end - window[0].start > chars - _LEAD_CHARS and len(window) > 1:
            gone = window.popleft()
            counts[gone.text] -= 1
            if not counts[gone.text]:
                del counts[gone.text]
        if len(counts) > most:
            best, most = window[0].start, len(counts)
    return _word_before(text, best) if most > len(head) else 0


def places_within(places: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """Those that lie whole in that part of the text, as offsets in it."""
    return tuple((first - start, last - start) for first, last in places if start <= first and last <= end)


def _word_before(text: str, at: int) -> int:
    """The start of a word that stands about `_LEAD_CHARS` before."""
    least = max(0, at - _LEAD_CHARS)
    blank = max(text.find(" ", least, at), text.rfind("\n", least, at))
    return blank + 1 if blank >= 0 else least
