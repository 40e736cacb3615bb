"""Where an excerpt holds what was looked for, for emphasis: exactly the words that the index matched."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.search.query.tokens import Tokenizer
from tierdeck.terms.piece_spans import spans
from tierdeck.terms.pieces import Piece


class Marker:
    """Finds a query's words in a text, folded and stemmed as the index does (10 µs for an excerpt)."""

    def __init__(
        self, tokenizer: Tokenizer, words: frozenset[str], prefix: str | None, pieces: Sequence[Piece]
    ) -> None:
        self._tokenizer = tokenizer
        self._words = words
        self._prefix = prefix
        self._pieces = pieces

    def marks(self, text: str) -> tuple[tuple[int, int], ...]:
        """The (start, end) character offsets of what matched, in order, never overlapping or touching."""
        found = self._tokenizer.spans(text, self._is_match)
        for piece in self._pieces:
            found += spans(piece, text)
        merged: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return tuple(merged)

    def _is_match(self, token: str) -> bool:
        return token in self._words or (self._prefix is not None and token.startswith(self._prefix))
