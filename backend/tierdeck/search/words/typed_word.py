"""The word that is being typed, where the full-text index can't tell that it is the beginning of one.

That index keeps stems: `generaliz` begins none, though `generalization`, kept as `gener`, is what is being typed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tierdeck.search.query.fts import quoted
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.words.written_forms import Form, WrittenForms
from tierdeck.terms.near_words import folded

MIN_STEM_CHARS = 3  # FTS5 joins all words that begin with so few letters: 75 ms at 1,000,000 memories
MAX_ENDING_CHARS = 10


def completion(typed: str, forms: WrittenForms, tokenizer: Tokenizer) -> str | None:
    """A word of some memory that begins so, the most frequent of its stem; of several stems the longest.

    Args:
        typed: a word that, stemmed, no stem begins with.
    """
    word = folded(typed)
    shortest = max(MIN_STEM_CHARS, len(word) - MAX_ENDING_CHARS)
    beginnings = [word[:chars] for chars in range(len(word) - 1, shortest - 1, -1)]
    kept = [beginning for beginning in beginnings if tokenizer.key(beginning) == (beginning,)]
    if tokenizer.key(word) != (word,) and kept:  # stemmed itself: `analy` was asked for as `anali`
        found = forms.of_words(f"{quoted(kept[0])} *", lambda _: True, _beginning_with(word), hints=(word,))
        if found:
            return _best(found)
    for beginning, rows in zip(beginnings, forms.counts(beginnings), strict=True):
        key = tokenizer.key(beginning)
        if rows and len(key) == 1:
            found = forms.of_words(quoted(beginning), key[0].__eq__, _beginning_with(word), hints=(word,))
            if found:
                return _best(found)
    return None


def _beginning_with(word: str) -> Callable[[str], bool]:
    return lambda form: form.startswith(word)


def _best(found: Mapping[str, Form]) -> str:
    return max(found.values(), key=lambda form: (not form.is_hidden, form.rows, form.text)).text
