"""Words of a query that stand in no memory, and those near to them that do: for a search that finds too little."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.search.answer.hit import MissingWord
from tierdeck.search.query.terms import Term
from tierdeck.search.words.near_written import NearWritten

MAX_MISSING = 3


def missing_words(near: NearWritten, terms: Sequence[Term]) -> tuple[MissingWord, ...]:
    """The words that no memory holds, the first `MAX_MISSING`, each with the nearest that memories do, as written.

    Args:
        terms: words that stand nowhere, neither whole nor as a part of a compound name.
    """
    return tuple(MissingWord(term.text, *near.of(term.text)) for term in terms[:MAX_MISSING])
