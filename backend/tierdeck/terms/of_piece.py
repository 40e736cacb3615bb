"""A piece of a query as an expression over the extra terms, or that they can't tell. Pure."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from tierdeck.terms.of_text import (
    FIRST_SIGNS,
    LAST_SIGNS,
    MAX_RUN,
    MAX_SIGNS,
    MAX_TERM_CHARS,
    glued_term,
    hash_term,
    is_telling_pair,
    is_telling_sign,
    lowered,
)
from tierdeck.terms.pieces import Piece, camel_parts
from tierdeck.terms.scripts import script_runs
from tierdeck.terms.words import split_words


def expression_of(piece: Piece) -> str | None:
    """What to ask the index of extra terms, so that every text which holds the piece matches.

    More texts than those may match: the caller looks at them. Without phrases, which that index can't answer.

    Returns:
        An FTS5 expression; None where texts may hold the piece without having a term for it.
    """
    if piece.kind == "whole" or len(piece.text) > MAX_TERM_CHARS or not piece.text.isprintable():
        return None
    if piece.kind == "pair":
        return _quoted(piece.text) + (" *" if len(piece.text) == 1 else "")
    if piece.kind == "name":
        return _quoted(f"<{lowered(piece.text)}"[:MAX_TERM_CHARS]) + " *"
    if piece.kind == "part":
        asked = _of_part(piece)
        if piece.may_begin_hash:
            return f"{_quoted(hash_term(piece.text))} *" + (f" OR ({asked})" if asked else "")
        return asked
    return _all_of([_of_signs(word) for word in piece.text.split()])


def _of_part(piece: Piece) -> str | None:
    # A piece may be made of more parts than stand together in one term; its capitals show them.
    if piece.is_short:
        return _quoted(glued_term(piece.text))
    whole = _quoted(lowered(piece.text)) + (" *" if piece.is_prefix else "")
    parts = camel_parts(piece.text)
    if len(parts) > MAX_RUN:
        runs = ["".join(parts[at : at + MAX_RUN]) for at in range(len(parts) - MAX_RUN + 1)]
        asked: list[str | None] = [_quoted(lowered(run)) for run in runs]
        if piece.is_prefix:
            asked[-1] = f"{asked[-1]} *"
        # Where it is glued to another script it is a term of its own, and of crumbs no runs are kept.
        return f"({_all_of(asked)}) OR {whole}"
    return whole


def _of_signs(text: str) -> str | None:
    """One typed piece with signs in it, and at most one word."""
    words = split_words(text)
    if not words:
        return _of_bare_signs(text)
    if len(words) > 1 or any(unicodedata.combining(char) for char in text):
        return None
    at = text.index(words[0])
    before, after = text[:at], text[at + len(words[0]) :]
    runs = script_runs(words[0])
    asked: list[str | None] = []
    if before:
        is_number = before == "." and runs[0].isdigit()
        asked.append(_quoted(lowered(before + runs[0])) if _may_begin(before) and not is_number else None)
    if after:
        asked.append(_quoted(lowered(runs[-1] + after)) if _may_end(after) else None)
    return _all_of(asked)


def _may_begin(signs: str) -> bool:
    # `_x`, `=x` and others have no term where a word stands before them.
    is_first = signs[0] in FIRST_SIGNS - frozenset("_=&*\\^|~") or is_telling_sign(signs[0])
    return is_first and len(signs) <= MAX_SIGNS


def _may_end(signs: str) -> bool:
    return (signs[-1] in LAST_SIGNS or is_telling_sign(signs[-1])) and len(signs) <= MAX_SIGNS


def _of_bare_signs(text: str) -> str | None:
    pairs = [first + second for first, second in pairwise(text) if is_telling_pair(first, second)]
    single = [char for char in text if is_telling_sign(char)]
    return " AND ".join(_quoted(one) for one in dict.fromkeys([*pairs, *single])) or None


def _all_of(asked: list[str | None]) -> str | None:
    """Each one that can be asked; what can't is left to the look at the text."""
    known = [one for one in asked if one is not None]
    return " AND ".join(known) if known else None


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
