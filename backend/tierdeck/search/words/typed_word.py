"""The word that is being typed, where the full-text index can't tell that it is the beginning of one.

That index keeps stems: `generaliz` begins none, though `generalization`, kept as `gener`, is what is being typed.
"""

from __future__ import annotations

from tierdeck.search.query.fts import quoted
from tierdeck.search.query.tokens import Tokenizer
from tierdeck.search.words.written_forms import WrittenForms
from tierdeck.terms.near_words import folded

MIN_STEM_CHARS = 3
MAX_ENDING_CHARS = 10


def completion(typed: str, forms: WrittenForms, tokenizer: Tokenizer) -> str | None:
    """A word of some memory that begins so and whose stem is shorter, of the longest such stem the most frequent.

    Args:
        typed: a word that no stem begins with.
    """
    word = folded(typed)
    shortest = max(MIN_STEM_CHARS, len(word) - MAX_ENDING_CHARS)
    beginnings = [word[:chars] for chars in range(len(word) - 1, shortest - 1, -1)]
    for beginning, rows in zip(beginnings, forms.counts(beginnings), strict=True):
        key = tokenizer.key(beginning)
        if rows and len(key) == 1:
            found = forms.of_stem(key[0], quoted(beginning), rows, lambda form: form.startswith(word), (word,))
            if found:
                return max(found.values(), key=lambda form: (not form.is_hidden, form.rows, form.text)).text
    return None
