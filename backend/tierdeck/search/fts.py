"""Words to an FTS5 expression in which nothing that was typed can act as syntax. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """What FTS5 is asked.

    `pool` picks the memories, `scored` gives any of them its bm25: the same words, but not all of them required.
    `words` says how many of the phrases of `scored` are words, beginning with phrase number `first_word`; None in
    an expression of the operator's own, where every phrase counts.
    """

    pool: str
    scored: str
    first_word: int = 0
    words: int | None = None


def quoted(text: str) -> str:
    """The text as one FTS5 string: a word, or a phrase where the tokenizer finds several."""
    return '"' + text.replace("\0", " ").replace('"', '""') + '"'


def match_words(
    words: Sequence[str],
    *,
    required: Sequence[str] = (),
    extra: Sequence[str] = (),
    prefix: int | None = None,
    all_words: bool = False,
) -> Match:
    """Matches memories that hold one of the words, and every required phrase.

    Args:
        words: at least one, or at least one required phrase.
        required: phrases without which a memory does not match.
        extra: phrases that raise the score where they stand (`wrong-book` as one), and are not counted as words.
        prefix: the number of the word that is not typed to its end.
        all_words: every word is needed, not one of them.
    """
    spelled = [quoted(word) for word in words]
    if prefix is not None:
        spelled[prefix] += " *"
    needed = " AND ".join(quoted(phrase) for phrase in required)
    anything = " OR ".join([*spelled, *(quoted(text) for text in (*extra, *required))])
    scored = f"({needed}) AND ({anything})" if needed else anything
    pool = f"({' AND '.join([*([needed] if needed else []), *spelled])})" if all_words and spelled else scored
    return Match(pool=pool, scored=scored, first_word=len(required), words=len(spelled))
