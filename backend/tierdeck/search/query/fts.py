"""Words to an FTS5 expression in which nothing that was typed can act as syntax. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """What FTS5 is asked.

    `pool` picks the memories, `scored` gives any of them its bm25: not every word picks, nor does every word that
    picks score.
    `words` says how many of the phrases of `scored` are words, beginning with phrase number `first_word`; None in
    an expression of the operator's own, where every phrase counts.
    `phrases` are those of `scored` in their order, and whether each is a prefix; the first `first_word` of them are
    required. `together` matches only memories with every word, where there are several.
    """

    pool: str
    scored: str
    first_word: int = 0
    words: int | None = None
    phrases: tuple[tuple[str, bool], ...] = ()
    together: str | None = None


def quoted(text: str) -> str:
    """The text as one FTS5 string: a word, or a phrase where the tokenizer finds several."""
    return '"' + text.replace("\0", " ").replace('"', '""') + '"'


def match_words(
    words: Sequence[str],
    *,
    picking: Sequence[int],
    required: Sequence[str] = (),
    extra: Sequence[str] = (),
    unscored: Sequence[str] = (),
    repeated: Sequence[int] = (),
    prefix: int | None = None,
    prefix_words: Sequence[str] = (),
    all_words: bool = False,
) -> Match:
    """Matches memories that hold one of the picking words, and every required phrase.

    Args:
        words: what counts for the score; at least one, or at least one required phrase.
        picking: the numbers of the words that pick memories; at least one when there are words.
        required: phrases without which a memory does not match.
        extra: phrases that raise the score where they stand (`DEC-0054` as one), and are not counted as words.
        unscored: words that pick, and score nothing.
        repeated: numbers of words that count once more for each time they stand here.
        prefix: the number of the word that is not typed to its end.
        prefix_words: the words that it may become, quoted, when they are known; else FTS5 looks for all.
        all_words: every word is needed, not one of them.
    """
    spelled = [quoted(word) for word in words]
    if prefix is not None:
        spelled[prefix] += " *"
        if prefix_words:
            spelled[prefix] = f"({' OR '.join(prefix_words)})"
    phrases = [quoted(phrase) for phrase in required]
    more = [quoted(text) for text in extra]
    again = [spelled[number] for number in repeated]
    scored = _needing(phrases, " OR ".join([*spelled, *more, *phrases, *again]))
    if all_words:
        pool = " AND ".join([*phrases, *spelled])
    else:
        picked = [*(spelled[number] for number in picking), *(quoted(word) for word in unscored)]
        picked += [spelled[number] for number in repeated if number in picking]
        pool = _needing(phrases, " OR ".join([*picked, *more, *phrases]))
    plain = [(word, number == prefix) for number, word in enumerate(words)]
    again_plain = [plain[number] for number in repeated]
    required_plain = [(phrase, False) for phrase in required]
    extra_plain = [(text, False) for text in extra]
    return Match(
        pool=pool,
        scored=scored,
        first_word=len(phrases),
        words=len(spelled),
        phrases=(*required_plain, *plain, *extra_plain, *required_plain, *again_plain),
        together=" AND ".join([*phrases, *spelled]) if len(spelled) > 1 else None,
    )


def _needing(phrases: Sequence[str], anything: str) -> str:
    return f"({' AND '.join(phrases)}) AND ({anything})" if phrases else anything
