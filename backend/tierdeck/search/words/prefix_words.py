"""The words of a large store that a word may become while it is typed: FTS5 would join all that begin so."""

from __future__ import annotations

from tierdeck.errors import IndexFileError
from tierdeck.search.query.fts import quoted
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.rows.word_counts import WordCounts
from tierdeck.terms.term_index import TermIndex

MAX_PREFIX_WORDS = 24


class PrefixWords:
    """Looks in the index file's list of words."""

    def __init__(self, tokenizer: Tokenizer, index: TermIndex, counts: WordCounts) -> None:
        """
        Args:
            counts: is told in how many memories words with a prefix stand.
        """
        self._tokenizer = tokenizer
        self._index = index
        self._counts = counts

    def words_with(self, prefix: str) -> list[str]:
        """The most frequent ones, as FTS5 is to be asked for them; none where they are not known."""
        key = self._tokenizer.key(prefix)
        if len(key) != 1:
            return []
        try:
            found = self._index.words_with_prefix(key[0], MAX_PREFIX_WORDS)
        except IndexFileError:
            return []
        if found:
            rows = min(self._counts.store_rows, sum(rows for _, rows in found))
            self._counts.note(f"{quoted(prefix)} *", rows)
        return list(dict.fromkeys(self._as_asked(word, key[0]) for word, _ in found))

    def _as_asked(self, word: str, prefix: str) -> str:
        """A stemmed word as FTS5 is to be asked for it: what it stems further is asked for as a beginning."""
        key = self._tokenizer.key(word)
        is_same = key == (word,) or len(key) != 1 or not key[0].startswith(prefix)
        return quoted(word) if is_same else f"{quoted(word)} *"
