"""The extra terms of a text: what a query may ask for that the full-text index can't represent. Pure.

FTS5's tokenizer makes one word of `getShippingMethodId` and of a whole run of Chinese, and drops what is no letter
in `C++`. What is made here, and `of_piece` looks for:

- the parts of compound names and up to four of them in a row (`shippingmethod`);
- pairs of neighbouring characters of scripts without spaces, and the last character of each run;
- words with the signs at them (`c++`, `c#`, `.env`, `-rf`), and pairs of signs (`->`);
- the beginnings of hashes and of ids in crumbs (`<3f2b8c1e`);
- versions (`1.2` and `1.2.3` of `v1.2.3`);
- words glued to another script (`用Go写`), to what unicode61 alone takes for a letter (`done🤖`) or to an escape
  sequence; those of a letter or two in brackets (`<go>`), so that no part of `letItGo` is taken for one;
- names of several words that are glued so (`<v2.0` of `升级到v2.0以后`);
- of a text that is not in normal form (`Ｒｅｄｉｓ`, `한` in three characters) its terms and words in that form.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tierdeck.terms.hashes import KEPT_CHARS, MAX_HASH_CHARS, hash_begins, is_hash, is_of_crumbs
from tierdeck.terms.piece_spans import glued_names
from tierdeck.terms.pieces import MIN_PART_CHARS, camel_parts
from tierdeck.terms.readings import readings
from tierdeck.terms.scripts import UNSPACED, changes_script, goes_on, is_odd, script_runs
from tierdeck.terms.words import is_letter, split_words, word_spans

# Raised when other terms are made of the same text: an index of older rules is made anew.
RULES = 4
MAX_TEXT_CHARS = 1_000_000
MAX_TEXT_TERMS = 20_000
MAX_TERM_CHARS = 64
MAX_RUN = 4
MAX_SIGNS = 4
# Of Base64 one stretch of 15 is taken for a name's; of 24 parts one of 60 is, but a short name behind it is missed.
_STRETCH_PARTS = 12

# Signs that a term may begin or end with. What is left out stands in every other sentence, or inside every path.
FIRST_SIGNS = frozenset("#$%&*+-./=@\\^_|~")
LAST_SIGNS = frozenset("#$%*+^")
# Between two words these join, and only some of them make the word behind a name of its own (`ASP.NET`, `a/b`).
_FIRST_INFIX_SIGNS = frozenset("./#$%@+")
_PROSE_SIGNS = frozenset(".,;:!?'\"()")

_ASCII_INNER = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z]")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
# Private-use characters are letters to unicode61.
_SIGNS = re.compile(r"(?:[^\w\s\ue000-\uf8ff]|_)+")
_VERSION = re.compile(r"(?<![\d.])\d{1,9}(?:\.\d{1,9}){1,5}(?![\d]|\.\d)")


@dataclass(frozen=True, slots=True)
class TextTerms:
    """A text's extra terms, lower case, none with a space in it. `is_partial`: the text holds more than these."""

    terms: frozenset[str]
    is_partial: bool = False


def terms_of_text(text: str) -> TextTerms:
    """All extra terms of a text (25 µs for 700 characters of ASCII prose).

    Args:
        text: any; of more than `MAX_TEXT_CHARS` the beginning is looked at.
    """
    is_cut = len(text) > MAX_TEXT_CHARS
    used = text[:MAX_TEXT_CHARS] if is_cut else text
    found: set[str] = set()
    for term in _terms(used):
        found.add(term)
        if len(found) == MAX_TEXT_TERMS:
            return TextTerms(frozenset(found), is_partial=True)
    return TextTerms(frozenset(found), is_cut)


def lowered(text: str) -> str:
    """The text as terms spell it; lower case never holds what the index takes for a space."""
    return text.lower()


def _terms(text: str) -> Iterator[str]:
    for reading, form_of in readings(text):
        yield from _terms_as_written(reading)
        if form_of is not None:
            for word in set(split_words(reading)).difference(split_words(form_of)):
                yield from _glued_terms(script_runs(word))


def _terms_as_written(text: str) -> Iterator[str]:
    yield from _sign_terms(text)
    yield from _version_terms(text)
    if text.isascii():
        if _ASCII_INNER.search(text):
            for word in set(_ASCII_WORD.findall(text)):
                if _ASCII_INNER.search(word):
                    yield from _compound_terms(word)
        return
    for start, end in word_spans(text):
        if _may_be_compound(text[start:end]):
            yield from _compound_terms(text[start:end])
        if is_odd(text, start - 1) or is_odd(text, end):
            yield from _glued_terms(script_runs(text[start:end]))
    yield from ("<" + lowered(text[start:end])[:MAX_TERM_CHARS] for start, end in glued_names(text))
    for run in UNSPACED.findall(text):
        yield from (first + second for first, second in pairwise(run))
        yield run[-1]


def _may_be_compound(word: str) -> bool:
    """A quick look that spares most words the slow one."""
    if word.isascii():
        return _ASCII_INNER.search(word) is not None
    return not (word.isalpha() and word[1:].islower()) or len(script_runs(word)) > 1


def _compound_terms(word: str) -> Iterator[str]:
    """The parts of a compound name, and runs of them; nothing of a plain word."""
    runs = script_runs(word)
    if len(runs) > 1:
        for run in runs:
            yield from _compound_terms(run)
        yield from _glued_terms(runs)
        return
    parts = camel_parts(word)
    if len(parts) < 2:
        return
    is_crumbs = is_of_crumbs(word, parts)
    is_very_long = len(word) > MAX_HASH_CHARS
    if is_crumbs or is_very_long or is_hash(word):
        yield from (hash_term(word[at:]) for at in hash_begins(word))
    if is_very_long:
        yield from _terms_of_very_long(parts)
    else:
        yield from _run_terms(parts, 0 if is_crumbs and is_hash(word) else 1 if is_crumbs else MAX_RUN)


def _terms_of_very_long(parts: Sequence[str]) -> Iterator[str]:
    """Some parts at a time, for behind crumbs (Base64) a name may stand."""
    for at in range(0, max(1, len(parts) - MAX_RUN), _STRETCH_PARTS - MAX_RUN):
        stretch = parts[at : at + _STRETCH_PARTS]
        yield from _run_terms(stretch, 1 if is_of_crumbs("".join(stretch), stretch) else MAX_RUN)


def _run_terms(parts: Sequence[str], longest_run: int) -> Iterator[str]:
    for size in range(1, min(longest_run, len(parts)) + 1):
        for at in range(len(parts) - size + 1):
            term = lowered("".join(parts[at : at + size]))
            if 2 <= len(term) <= MAX_TERM_CHARS:
                yield term


def glued_term(word: str) -> str:
    """The term of a word that is glued to another script."""
    return lowered(word) if len(word) >= MIN_PART_CHARS else f"<{lowered(word)}>"


def hash_term(word: str) -> str:
    """The beginning of the one term that a hash or an id has; terms begin so with a beginning of it."""
    return "<" + lowered(word[:KEPT_CHARS])


def _glued_terms(runs: Iterable[str]) -> Iterator[str]:
    yield from (glued_term(run) for run in runs if len(run) <= MAX_TERM_CHARS and not UNSPACED.match(run))


def _sign_terms(text: str) -> Iterator[str]:
    for match in _SIGNS.finditer(text):
        start, end = match.span()
        run = match[0]
        has_word_before = start > 0 and is_letter(text[start - 1])
        has_word_after = end < len(text) and is_letter(text[end])
        if has_word_after:
            is_infix = has_word_before and not changes_script(text[start - 1], text[end])
            yield from _before_word(text, run, end, is_infix=is_infix)
        if has_word_before:
            yield from _after_word(text, run, start)
        if len(run) > 1:
            yield from (a + b for a, b in pairwise(run) if is_telling_pair(a, b))
        if not run.isascii():
            yield from (char for char in run if is_telling_sign(char))


def is_telling_pair(first: str, second: str) -> bool:
    """Whether two signs in a row say something: `->` does, `."` ends a sentence."""
    if first in _PROSE_SIGNS and second in _PROSE_SIGNS:
        return first == second == ":"
    return first.isprintable() and second.isprintable()


def is_telling_sign(char: str) -> bool:
    """Whether a sign says something by itself, as a pictograph does and a comma does not."""
    return not char.isascii() and unicodedata.category(char) in ("So", "Sc", "Sm")


def _before_word(text: str, run: str, end: int, *, is_infix: bool) -> Iterator[str]:
    allowed = _FIRST_INFIX_SIGNS if is_infix and len(run) == 1 else FIRST_SIGNS
    signs = [run[-size:] for size in range(1, min(len(run), MAX_SIGNS) + 1)]
    signs = [one for one in signs if one[0] in allowed or is_telling_sign(one[0])]
    word = _word_at(text, end) if signs else ""
    if word and not (is_infix and run == "." and word.isdigit()):
        yield from (lowered(one + word) for one in signs if one.isprintable())


def _after_word(text: str, run: str, start: int) -> Iterator[str]:
    signs = [run[:size] for size in range(1, min(len(run), MAX_SIGNS) + 1)]
    signs = [one for one in signs if one[-1] in LAST_SIGNS or is_telling_sign(one[-1])]
    word = _word_before(text, start) if signs else ""
    if word:
        yield from (lowered(word + one) for one in signs if one.isprintable())


def _word_at(text: str, start: int) -> str:
    """The word of one script that begins there; empty when it is too long for a term."""
    end = start + 1
    while end < len(text) and end - start <= MAX_TERM_CHARS and goes_on(text, end):
        end += 1
    return text[start:end] if end - start <= MAX_TERM_CHARS else ""


def _word_before(text: str, end: int) -> str:
    start = end - 1
    while start and end - start <= MAX_TERM_CHARS and goes_on(text, start):
        start -= 1
    return text[start:end] if end - start <= MAX_TERM_CHARS else ""


def _version_terms(text: str) -> Iterator[str]:
    if "." not in text:
        return
    for match in _VERSION.finditer(text):
        numbers = match[0].split(".")
        is_glued = (match.start() and is_letter(text[match.start() - 1])) or (
            match.end() < len(text) and is_letter(text[match.end()])
        )
        if is_glued or len(numbers) > 2:
            yield from (".".join(numbers[:size]) for size in range(2, len(numbers) + 1))
