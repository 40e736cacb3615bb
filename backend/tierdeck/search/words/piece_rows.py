"""Which memories may hold a piece of a query, by both indexes: that of extra terms, and the full-text index.

The extra terms have no plain words, but `Redis` of `Redis连接池` stands in texts as one.
"""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from tierdeck.search.query.fts import quoted
from tierdeck.terms.of_piece import expression_of
from tierdeck.terms.pieces import Piece
from tierdeck.terms.term_index import TermIndex


@dataclass(frozen=True, slots=True)
class Asked:
    """A piece as expressions: over the extra terms, over the full-text index, or over both."""

    piece: Piece
    terms: str | None
    words: str | None = None


def asked_of(piece: Piece) -> Asked | None:
    """How to ask for a piece; None where texts may hold it and neither index knows."""
    terms = expression_of(piece)
    words = quoted(piece.text) + (" *" if piece.is_prefix else "") if piece.may_be_word else None
    return Asked(piece, terms, words) if terms is not None or piece.kind == "whole" else None


class PieceRows:
    """Asks both indexes inside one snapshot."""

    def __init__(self, conn: apsw.Connection, index: TermIndex) -> None:
        self._conn = conn
        self._index = index

    def rows(self, asked: Asked, limit_rows: int, below: int = (1 << 63) - 1) -> list[int]:
        """The rowids in `nodes` of memories that may hold it, newest first, lower than `below`."""
        by_terms = [] if asked.terms is None else self._index.rows(asked.terms, limit_rows, below)
        if asked.words is None:
            return by_terms
        return sorted({*by_terms, *self._by_words(asked.words, limit_rows, below)}, reverse=True)[:limit_rows]

    def together(self, several: list[Asked], limit_rows: int) -> list[int]:
        """Those that may hold all of several pieces which the extra terms alone know."""
        return self._index.rows(" AND ".join(f"({asked.terms})" for asked in several), limit_rows)

    def _by_words(self, expression: str, limit_rows: int, below: int) -> list[int]:
        # CROSS: newest first by the full-text index. Another program's numbers may differ from those of `nodes`:
        # then `below` leaves some out, and never gives one twice.
        rows = self._conn.execute(
            "SELECT n.rowid FROM content_fts f CROSS JOIN nodes n ON n.id = f.node_id"
            " WHERE f.content_fts MATCH ? AND f.rowid < ? AND n.rowid < ? ORDER BY f.rowid DESC LIMIT ?",
            (expression, below, below, limit_rows),
        )
        return [int(str(row[0])) for row in rows]
