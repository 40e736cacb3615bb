"""The words near to a mistyped one that stand in memories, as they are written there.

The full-text index knows stems, and a wrong letter in its ending keeps a word from being stemmed. So every spelling
one edit away is asked for (20 µs each, at any number of memories): the index stems it as it stemmed the word that
was meant. Where none is written, stems that the word may have are looked at, and up to two wrong letters allowed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property

import apsw

from tierdeck.errors import IndexFileError
from tierdeck.search.query.fts import quoted
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.words.written_forms import Form, WrittenForms
from tierdeck.terms.near_stems import PAGE_WORDS, near_stems
from tierdeck.terms.near_words import MAX_NEAR, edits, folded, most_edits, one_edit_away
from tierdeck.terms.term_index import TermIndex
from tierdeck.terms.vocabulary import MAX_WORD_CHARS, Word, words_of_index

# Reading the words of a store without an index file: 0.02 s for so many memories.
MAX_LIVE_ROWS = 20_000
# So many stems are looked for in texts: of those that fit a spelling the most frequent, else the likeliest.
MAX_STEMS = 12
_MAX_PART_ROWS = 64

Found = dict[str, Form]


class NearWritten:
    """Looks for near words in one snapshot."""

    def __init__(
        self,
        conn: apsw.Connection,
        tokenizer: Tokenizer,
        forms: WrittenForms,
        index: TermIndex | None,
        store_rows: int,
    ) -> None:
        """
        Args:
            index: knows the store's words and the parts of compound names; without it the words of a small store
                are read, and of a large one only those one edit away are found.
        """
        self._conn = conn
        self._tokenizer = tokenizer
        self._forms = forms
        self._index = index
        self._store_rows = store_rows

    def of(self, typed: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The near words that memories hold, then those that only memories which the filters hide seem to hold.

        Each at most `MAX_NEAR`; nearest first, then those in more memories, then by the word.
        """
        word = folded(typed)
        if not most_edits(word) or len(word) > MAX_WORD_CHARS or len(self._tokenizer.key(typed)) != 1:
            return (), ()
        found: Found = {}
        for look in (self._one_edit_away, self._parts, self._by_stems):
            found = look(word) | found  # what was found nearer stays
            if any(not form.is_hidden for form in found.values()):
                break
        return _nearest(word, found, is_hidden=False), _nearest(word, found, is_hidden=True)

    def _one_edit_away(self, word: str) -> Found:
        by_stem: dict[str, list[str]] = {}
        for spelling, stem in self._stemmed(one_edit_away(word)):
            by_stem.setdefault(stem, []).append(spelling)
        counts = self._forms.counts([spellings[0] for spellings in by_stem.values()])
        counted = [one for one in zip(counts, by_stem.items(), strict=True) if one[0]]
        found: Found = {}
        for rows, (stem, hints) in sorted(counted, key=lambda one: -one[0])[:MAX_STEMS]:
            asked, is_wanted = quoted(hints[0]), frozenset(hints).__contains__
            found |= self._forms.of_words(asked, stem.__eq__, is_wanted, rows=rows, hints=hints)
        return found

    def _stemmed(self, spellings: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Each with what the index makes of it; all in one pass, unless it takes one of them for no word."""
        stems = self._tokenizer.words(" ".join(spellings))
        if len(stems) == len(spellings):
            return zip(spellings, stems, strict=True)
        keys = ((spelling, self._tokenizer.key(spelling)) for spelling in spellings)
        return ((spelling, key[0]) for spelling, key in keys if len(key) == 1)

    def _parts(self, word: str) -> Found:
        """Parts of compound names, which only the extra terms know."""
        if self._index is None:
            return {}
        spellings = one_edit_away(word)
        try:
            rowids = self._index.rows(" OR ".join(map(quoted, spellings)), _MAX_PART_ROWS)
        except IndexFileError:
            return {}
        return self._forms.of_parts(rowids, frozenset(spellings).__contains__)

    def _by_stems(self, word: str) -> Found:
        most = most_edits(word)
        found: Found = {}
        stems = self._near_stems(word, most) if most > 1 else ()
        for stem, rows in zip(stems, self._forms.counts(stems), strict=True):
            # What is stemmed further is asked for as a beginning.
            asked = quoted(stem) if self._tokenizer.key(stem) == (stem,) else f"{quoted(stem)} *"
            near = self._forms.of_words(asked, stem.__eq__, lambda form: edits(form, word, most) <= most, rows=rows)
            found |= near
        return found

    def _near_stems(self, word: str, most: int) -> Sequence[str]:
        """By the index file's list of words, else by a small store's own."""
        index = self._index
        try:
            if index is not None and index.words_from("", 1):
                return near_stems(word, lambda first: index.words_from(first, PAGE_WORDS), most, MAX_STEMS)
        except IndexFileError:
            return ()
        return near_stems(word, self._live_from, most, MAX_STEMS) if self._store_rows <= MAX_LIVE_ROWS else ()

    def _live_from(self, first: str) -> Sequence[Word]:
        at = bisect_left(self._live, (first,))
        return self._live[at : at + PAGE_WORDS]

    @cached_property
    def _live(self) -> list[Word]:
        return sorted(words_of_index(self._conn))


def _nearest(word: str, found: Found, *, is_hidden: bool) -> tuple[str, ...]:
    far = len(word)
    chosen = [
        (edits(form, word, far), -written.rows, written.text)
        for form, written in found.items()
        if written.is_hidden == is_hidden and form != word
    ]
    return tuple(text for _, _, text in sorted(chosen)[:MAX_NEAR])
