"""What was found inside words, and what each piece of a query is worth there. Pure.

A part is worth half a whole word, so that a whole-word hit stays above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tierdeck.search.query.terms import Term
from tierdeck.search.words.text_score import idf_of
from tierdeck.terms.pieces import Piece

MAX_PARTS = 4
# A word that stands whole in so many memories needs no looking for inside other words.
MAX_WHOLE_ROWS = 1_000

# A sign outweighs its bare word however often that stands in a text: bm25 of one word stays under
# (k1 + 1) x idf = 2.2 x idf, and `C++` must beat a text that says `c` ten times. So does a whole its words.
PART_WORTH = 0.5
SIGN_WORTH = 2.2


@dataclass(frozen=True, slots=True)
class InsideHit:
    """What one memory earned, piece by piece. Pieces of words count only where the whole word does not stand."""

    earned: tuple[tuple[Piece, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Inside:
    """What the look found, of the pieces that it looked for. `note` says how far it went when not to the end."""

    hits: dict[str, InsideHit]
    pieces: tuple[Piece, ...] = ()
    note: str | None = None


def worthwhile(pieces: Sequence[Piece], terms: Sequence[Term]) -> list[Piece]:
    """Without the parts of words that stand whole in many memories; of a long query only of words that never do."""
    whole_rows = MAX_WHOLE_ROWS if len(terms) <= MAX_PARTS else 0
    parts = [p for p in pieces if p.kind == "part" and rows_of_word(p, terms) <= whole_rows]
    long, short = ([p for p in parts if p.is_short == is_short][:MAX_PARTS] for is_short in (False, True))
    return [p for p in pieces if p.kind != "part" or p in long or p in short]


def worth_of(piece: Piece, found_rows: int, terms: Sequence[Term], store_rows: int) -> float:
    """What a memory earns by holding the piece.

    Args:
        found_rows: how many memories hold it; `terms`: the query's words, which `Piece.term` counts in.
    """
    whole_rows = rows_of_word(piece, terms)
    if piece.kind in ("sign", "whole"):
        bare = idf_of(whole_rows, store_rows) if whole_rows else 0.0
        return SIGN_WORTH * piece.weight * max(idf_of(found_rows, store_rows), bare)
    return PART_WORTH * piece.weight * idf_of(whole_rows + found_rows, store_rows)


def rows_of_word(piece: Piece, terms: Sequence[Term]) -> int:
    """In how many memories the word of the piece stands whole."""
    return 0 if piece.term is None else terms[piece.term].rows
