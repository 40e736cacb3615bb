"""Where an excerpt holds what was looked for, for emphasis: exactly the words that the index matched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from tierdeck.search.query.tokens import Token, Tokenizer
from tierdeck.terms.piece_spans import spans
from tierdeck.terms.pieces import Piece

Span = tuple[int, int]


class Marker:
    """Finds a query's words in a text, folded and stemmed as the index does (10 µs for an excerpt)."""

    def __init__(
        self, tokenizer: Tokenizer, words: frozenset[str], prefix: str | None, pieces: Sequence[Piece]
    ) -> None:
        self._tokenizer = tokenizer
        self._words = words
        self._prefix = prefix
        self._pieces = pieces

    def found(self, text: str) -> list[Token]:
        """What matched, in order: words, and parts of others, which may lie over each other.

        The text of a word is what the index compares, of one that was just being typed its beginning.
        """
        words = [
            token if token.text in self._words else replace(token, text=self._prefix or "")
            for token in self._tokenizer.wanted(text, self._is_match)
        ]
        starts = [word.start for word in words]
        parts = [Token(piece.text, *span) for piece in self._pieces for span in spans(piece, text)]
        alone = [part for part in parts if not _is_within(part, words, starts)]
        return sorted((*words, *alone), key=lambda token: (token.start, token.end))

    def marks(self, text: str) -> tuple[Span, ...]:
        """The (start, end) character offsets of what matched, in order, never overlapping or touching."""
        return merged(self.found(text))

    def _is_match(self, token: str) -> bool:
        return token in self._words or (self._prefix is not None and token.startswith(self._prefix))


def _is_within(part: Token, words: Sequence[Token], starts: Sequence[int]) -> bool:
    at = bisect_right(starts, part.start) - 1
    return at >= 0 and part.end <= words[at].end


def merged(found: Sequence[Token]) -> tuple[Span, ...]:
    """The places of what matched, in order, those that overlap or touch as one."""
    places: list[Span] = []
    for token in found:
        if places and token.start <= places[-1][1]:
            places[-1] = (places[-1][0], max(places[-1][1], token.end))
        else:
            places.append((token.start, token.end))
    return tuple(places)
