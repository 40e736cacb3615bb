"""The ways to ask the full-text index for a query, from the strictest to the one that finds the most. Pure.

Each comes with what has to be said when it is the one that was taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tierdeck.search.query.fts import Match, match_words
from tierdeck.search.query.query import Query
from tierdeck.search.query.terms import MAX_TERMS, Terms, listed
from tierdeck.terms.normal_form import normal_form
from tierdeck.terms.pieces import camel_parts
from tierdeck.terms.words import split_words

MIN_PREFIX_CHARS = 3
MAX_EXTRA_PHRASES = 16
MAX_EXTRA_WORDS = 12
MAX_REPEATS = 3
MAX_REPEATED = 32
# A digit, a capital after another letter, or a sign that no sentence puts inside a word.
_NAME = re.compile(r"\d|\w[A-Z]|\w[_./\\:@=#$~&|<(\[{]+\w|::|->")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to ask. `prefix` is the number of the word that is not typed to its end.

    `match` None means that there is no word to ask for. The next attempt is made when this one finds too few, or,
    where that is `last_resort`, nothing.
    """

    terms: Terms
    match: Match | None
    prefix: int | None = None
    notes: tuple[str, ...] = ()
    last_resort: bool = False


def attempts(
    query: Query,
    terms: Terms,
    has_words: Callable[[str], bool],
    *,
    is_typing: bool,
    words_with: Callable[[str], Sequence[str]] = lambda _: (),
) -> Iterator[Attempt]:
    """The ways to ask, strictest first; at least one.

    Args:
        terms: the words chosen.
        has_words: whether the index sees a word in a text; a phrase without one would match nothing.
        is_typing: the last word may still grow, and the others are meant to narrow.
        words_with: the words that begin so, where they are known; none leaves that to FTS5.
    """
    asking = _Asking.of(query, terms, has_words, is_typing=is_typing, words_with=words_with)
    common = listed(terms.common)
    notes = [f"common words pick no memory by themselves: {common}"] if terms.common else []
    if is_typing and len(terms.used) > 1:
        yield asking.attempt(terms, *notes, all_words=True)
    yield asking.attempt(terms, *notes)
    everything = terms.with_all()
    if terms.common:
        notes = [f"the other words find too little, so common ones pick too: {common}"]
        yield asking.attempt(everything, *notes)
    if asking.required:
        quoted = ", ".join(f'"{phrase[:40]}"' for phrase in asking.required)
        notes.append(f"no memory holds {quoted}; looked for its words")
        loose = replace(asking, required=()).attempt(everything, *notes)
        yield replace(loose, last_resort=True)


@dataclass(frozen=True, slots=True)
class _Asking:
    """What all attempts of one query have in common; `prefix_room` is how many words the last one may become."""

    query: Query
    required: tuple[str, ...]
    extra: tuple[str, ...]
    is_typing: bool
    prefix_room: int
    words_with: Callable[[str], Sequence[str]]

    @classmethod
    def of(
        cls,
        query: Query,
        terms: Terms,
        has_words: Callable[[str], bool],
        *,
        is_typing: bool,
        words_with: Callable[[str], Sequence[str]],
    ) -> _Asking:
        """No more than `MAX_TERMS` in all; the words of a phrase that is dropped are looked for in any case."""
        room = max(0, MAX_TERMS - len(terms.used) - len(terms.left_out))
        required = tuple(phrase for phrase in query.phrases if has_words(phrase))[:room]
        room -= len(required)
        named = (
            phrase
            for phrase in (*query.forms, *_extra_phrases(query))
            if phrase not in required and has_words(phrase)
        )
        extra = tuple(named)[:room]
        return cls(query, required, extra, is_typing, room - len(extra) + 1, words_with)

    def attempt(self, terms: Terms, *notes: str, all_words: bool = False) -> Attempt:
        """One way to ask for these words."""
        words = [term.text for term in terms.used]
        prefix = _prefix(self.query, words) if self.is_typing else None
        if not words and not self.required:
            return Attempt(terms, None, prefix, notes)
        match = match_words(
            words,
            picking=[number for number, term in enumerate(terms.used) if term.picks],
            required=self.required,
            extra=self.extra,
            unscored=[term.text for term in terms.returned],
            repeated=_repeated(terms),
            prefix=prefix,
            prefix_words=() if prefix is None else self.words_with(words[prefix])[: self.prefix_room],
            all_words=all_words,
        )
        return Attempt(terms, match, prefix, notes)


def _repeated(terms: Terms) -> list[int]:
    """The words that the query says more than once, so often that they count as they are meant to.

    BM25 weighs a word by how often the query says it: in pasted paragraphs (CISI) that took nDCG@10 from 0.31 to
    0.43, and cost Cranfield's short questions nothing. Without a bound 3,000 repeats gave a score of 5,250.
    """
    again = [n for n, term in enumerate(terms.used) for _ in range(min(term.repeats, MAX_REPEATS) - 1)]
    return again[:MAX_REPEATED]


def growing_word(query: Query) -> str | None:
    """The word at the very end of the text, which may still grow while it is typed; in normal form."""
    text = normal_form(query.text[-200:])
    last = split_words(text)[-1:]
    return last[0] if last and text.endswith(last[0]) else None


def _prefix(query: Query, words: list[str]) -> int | None:
    """The number of the word that may still grow, when it is long enough to tell."""
    growing = growing_word(query)
    return words.index(growing) if growing in words and len(growing) >= MIN_PREFIX_CHARS else None


def _extra_phrases(query: Query) -> list[str]:
    """Names of several parts, as phrases: where they stand so, the score is higher.

    `DEC-0054` and `src/app.py` are names, `three-dimensional` is not: as phrases such words cost 0.01 of nDCG@10 on
    Cranfield.
    """
    named = (piece for piece in query.pieces if _NAME.search(piece))
    phrases = {name: None for name in named if _is_telling(split_words(name))}
    for word in query.words[: 4 * MAX_EXTRA_PHRASES]:
        parts = camel_parts(word) if word.isascii() else []
        if _is_telling(parts):
            phrases[" ".join(parts)] = None
    return list(phrases)[:MAX_EXTRA_PHRASES]


def _is_telling(parts: list[str]) -> bool:
    """Several parts, not all of them letters as in `e.g.`."""
    return 1 < len(parts) <= MAX_EXTRA_WORDS and any(len(part) > 1 or part.isdigit() for part in parts)
