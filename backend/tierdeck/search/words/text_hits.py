"""The exact keyword match of candidates of a large store, from their texts."""

from __future__ import annotations

from collections.abc import Collection

import apsw

from tierdeck.search.query.fts import Match, quoted
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.rows.kept_counts import kept_counts
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.search.rows.word_counts import WordCounts
from tierdeck.search.words.text_score import ScoredPhrase, TextScorer, idf_of
from tierdeck.search.words.word_hit import WordHit

_SIZE = "tierdeck_size"


class TextHits:
    """Scores memories by the words of their own texts, as the full-text index would score them; each once."""

    def __init__(
        self, conn: apsw.Connection, memories: ReadMemories, counts: WordCounts, tokenizer: Tokenizer
    ) -> None:
        self._conn = conn
        self._memories = memories
        self._counts = counts
        self._tokenizer = tokenizer
        self._known: dict[Match, dict[str, WordHit | None]] = {}
        conn.register_fts5_function(_SIZE, _size)

    def hits(self, match: Match, ids: Collection[str]) -> dict[str, WordHit]:
        """The match of each of the memories; those that hold no word, or lack a required phrase, are left out."""
        known = self._known.setdefault(match, {})
        new = [node_id for node_id in ids if node_id not in known]
        if new:
            known.update(dict.fromkeys(new))
            known.update(self._looked_up(match, new))
        return {node_id: hit for node_id in ids if (hit := known[node_id]) is not None}

    def _looked_up(self, match: Match, ids: Collection[str]) -> dict[str, WordHit]:
        phrases = [self._scored(text, is_prefix=is_prefix) for text, is_prefix in match.phrases]
        scorer = TextScorer(phrases, self._average_tokens(match))
        asked = len(match.phrases) if match.words is None else match.words
        required = frozenset(range(match.first_word))
        found = {}
        # The words of 200 texts are not kept: they take 1 MB, which each query would get anew from the system.
        for node_id, text in self._memories.texts(ids):
            total, held = scorer.score(self._tokenizer.words(text))
            if held and required <= held:
                words = frozenset(n - match.first_word for n in held if 0 <= n - match.first_word < asked)
                found[node_id] = WordHit(total, words, asked)
        return found

    def _scored(self, text: str, *, is_prefix: bool) -> ScoredPhrase:
        expression = f"{quoted(text)} *" if is_prefix else quoted(text)
        rows = self._counts.rows(expression, self._counts.store_rows)
        return ScoredPhrase(self._tokenizer.key(text), idf_of(rows, self._counts.store_rows), is_prefix)

    def _average_tokens(self, match: Match) -> float:
        kept = kept_counts(self._conn)
        if _SIZE not in kept:
            row = self._conn.execute(
                f"SELECT {_SIZE}(content_fts) FROM content_fts WHERE content_fts MATCH ? LIMIT 1", (match.pool,)
            ).fetchone()
            if row is None:
                return 1.0
            kept[_SIZE] = float(row[0])
        return kept[_SIZE]


def _size(api: apsw.FTS5ExtensionApi, /, *_: object) -> float:
    """An FTS5 function: the average number of words of a row."""
    return api.column_total_size(-1) / max(1, api.row_count)
