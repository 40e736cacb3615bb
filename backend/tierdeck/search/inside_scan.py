"""A bounded look into the newest texts for pieces that the full-text index can't represent.

It reads at most 16 MB of text (20 ms for each piece), newest memories first, and says when the store holds more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import apsw

from tierdeck.search.condition import NOT_MATCHING, Condition
from tierdeck.search.fts import quoted
from tierdeck.search.inside_pieces import MAX_PIECE_CHARS, Piece, holds
from tierdeck.search.terms import Term
from tierdeck.store.rows import SQLValue, as_bytes, text_of

MAX_SCANNED_BYTES = 16_000_000
MAX_TEXT_BYTES = 65_536
MAX_FOUND_ROWS = 400
MAX_PARTS = 4
# A word that stands whole in so many memories needs no looking for inside other words.
MAX_WHOLE_ROWS = 1_000
_BATCH_ROWS = 5_000
_SMALLEST_IDF = 1e-6  # FTS5's own floor, so that both kinds of score stay on one scale

# A part is worth half a whole word. A sign outweighs its bare word however often that stands in a text: bm25 of one
# word stays under (k1 + 1) x idf = 2.2 x idf, and `C++` must beat a text that says `c` ten times.
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


class InsideScan:
    """Looks into the texts of one snapshot by SQL; how far back it reaches is found out once."""

    def __init__(self, conn: apsw.Connection, store_rows: int) -> None:
        self._conn = conn
        self._store_rows = store_rows

    def find(self, pieces: Sequence[Piece], terms: Sequence[Term], condition: Condition) -> Inside:
        """The memories that meet the condition and hold a piece, each with what it earned.

        Args:
            terms: the query's words; `Piece.term` counts in it.
        """
        wanted = _worthwhile(pieces, terms)
        if not wanted:
            return Inside({})
        floor, is_all = self._floor
        hits: dict[str, InsideHit] = {}
        for piece in wanted:
            found = self._holding(piece, floor, condition, terms)
            worth = self._worth(piece, len(found), terms)
            for node_id in found:
                hits[node_id] = InsideHit((*hits.get(node_id, InsideHit()).earned, (piece, worth)))
        note = f"looked inside words in the newest {MAX_SCANNED_BYTES // 1_000_000} MB of text only"
        return Inside(hits, tuple(wanted), None if is_all else note)

    def stands(self, text: str, condition: Condition) -> bool:
        """Whether a memory among those looked into holds the text as it stands."""
        floor, _ = self._floor
        return bool(self._holding(Piece(text[:MAX_PIECE_CHARS], "sign", None), floor, condition, ()))

    @cached_property
    def _floor(self) -> tuple[int, bool]:
        """The row number from which on the texts make up the bytes allowed, and whether that is all of them."""
        below, scanned = (1 << 63) - 1, 0
        while True:
            lowest, size = self._conn.execute(
                "SELECT min(pk), sum(min(octet_length(content), ?)) FROM"
                " (SELECT rowid AS pk, content FROM nodes WHERE rowid < ? ORDER BY rowid DESC LIMIT ?)",
                (MAX_TEXT_BYTES, below, _BATCH_ROWS),
            ).fetchall()[0]
            if lowest is None:
                return below, True
            scanned += int(size or 0)
            if scanned > MAX_SCANNED_BYTES and below < (1 << 63) - 1:
                return below, False
            below = int(lowest)

    def _holding(self, piece: Piece, floor: int, condition: Condition, terms: Sequence[Term]) -> list[str]:
        like, patterns = _like(piece)
        whole, whole_params = ("1", ()) if piece.kind != "part" else (NOT_MATCHING, _whole_word(piece, terms))
        rows = self._conn.execute(
            f"SELECT {as_bytes('n.id')}, CAST(n.content AS BLOB) FROM nodes n"
            f" WHERE n.rowid >= ? AND {condition.sql} AND octet_length(n.content) <= ? AND ({like}) AND {whole}"
            " ORDER BY n.rowid DESC LIMIT ?",
            (floor, *condition.params, MAX_TEXT_BYTES, *patterns, *whole_params, MAX_FOUND_ROWS),
        )
        return [text_of(row[0]) for row in rows if holds(piece, text_of(row[1]))]

    def _worth(self, piece: Piece, found_rows: int, terms: Sequence[Term]) -> float:
        whole_rows = _whole_rows(piece, terms)
        if piece.kind == "sign":
            return SIGN_WORTH * max(self._idf(found_rows), self._idf(whole_rows) if whole_rows else 0.0)
        return PART_WORTH * piece.weight * self._idf(whole_rows + found_rows)

    def _idf(self, rows: int) -> float:
        rows = min(rows, self._store_rows)
        return max(math.log((self._store_rows - rows + 0.5) / (rows + 0.5)), _SMALLEST_IDF)


def _worthwhile(pieces: Sequence[Piece], terms: Sequence[Term]) -> list[Piece]:
    """Without the parts of words that stand whole in many memories; of a long query only of words that never do."""
    whole_rows = MAX_WHOLE_ROWS if len(terms) <= MAX_PARTS else 0
    parts = [p for p in pieces if p.kind == "part" and _whole_rows(p, terms) <= whole_rows][:MAX_PARTS]
    return [p for p in pieces if p.kind != "part" or p in parts]


def _whole_word(piece: Piece, terms: Sequence[Term]) -> tuple[str]:
    return (quoted(piece.text if piece.term is None else terms[piece.term].text),)


def _whole_rows(piece: Piece, terms: Sequence[Term]) -> int:
    return 0 if piece.term is None else terms[piece.term].rows


def _like(piece: Piece) -> tuple[str, tuple[SQLValue, ...]]:
    """Picks texts worth a closer look; LIKE folds only ASCII letters, so other cases are spelled out."""
    if piece.kind == "pair":
        return "instr(n.content, ?)", (piece.text,)
    spellings = {piece.text}
    if not piece.text.isascii():
        spellings |= {piece.text.lower(), piece.text.upper(), piece.text.capitalize()}
    escaped = [_escaped(text) for text in sorted(spellings)]
    return " OR ".join(["n.content LIKE ? ESCAPE '\\'"] * len(escaped)), tuple(f"%{text}%" for text in escaped)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
