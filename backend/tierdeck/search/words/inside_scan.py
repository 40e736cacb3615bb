"""A bounded look into texts for pieces of a query: the newest ones, or those that changed of late.

It reads at most 16 MB of text (20 ms for each piece), newest memories first, and says when the store holds more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

import apsw

from tierdeck.search.query.fts import quoted
from tierdeck.search.query.terms import Term
from tierdeck.search.rows.condition import NOT_MATCHING, Condition
from tierdeck.store.rows import SQLValue, as_bytes, text_of
from tierdeck.terms.piece_spans import holds
from tierdeck.terms.pieces import Piece

MAX_SCANNED_BYTES = 16_000_000
MAX_TEXT_BYTES = 65_536
MAX_FOUND_ROWS = 400
_BATCH_ROWS = 5_000


class InsideScan:
    """Looks into the texts of one snapshot by SQL; how far back it reaches is found out once."""

    def __init__(self, conn: apsw.Connection) -> None:
        self._conn = conn

    @property
    def note(self) -> str | None:
        """How far a look into the newest texts goes, when not to the end."""
        _, is_all = self._floor
        return (
            None
            if is_all
            else f"looked inside words in the newest {MAX_SCANNED_BYTES // 1_000_000} MB of text only"
        )

    def newest(self, piece: Piece, terms: Sequence[Term], condition: Condition) -> list[str]:
        """The memories among the newest that meet the condition and hold the piece, newest first.

        Args:
            terms: the query's words; memories that hold the piece's word whole are left out.
        """
        floor, _ = self._floor
        return self._holding(piece, "n.rowid >= ?", floor, terms, condition)

    def among(self, ids: Sequence[str], piece: Piece, condition: Condition) -> list[str]:
        """Those of the memories that meet the condition and hold the piece."""
        if not ids:
            return []
        where = "n.id IN (SELECT value FROM json_each(?))"
        return self._holding(piece, where, json.dumps(list(ids)), (), condition)

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

    def _holding(
        self, piece: Piece, where: str, value: SQLValue, terms: Sequence[Term], condition: Condition
    ) -> list[str]:
        like, patterns = _like(piece)
        has_word = piece.kind == "part" and piece.term is not None and bool(terms)
        whole, whole_params = (NOT_MATCHING, (quoted(terms[piece.term or 0].text),)) if has_word else ("1", ())
        rows = self._conn.execute(
            f"SELECT {as_bytes('n.id')}, CAST(n.content AS BLOB) FROM nodes n"
            f" WHERE {where} AND {condition.sql} AND octet_length(n.content) <= ? AND ({like}) AND {whole}"
            " ORDER BY n.rowid DESC LIMIT ?",
            (value, *condition.params, MAX_TEXT_BYTES, *patterns, *whole_params, MAX_FOUND_ROWS),
        )
        return [text_of(row[0]) for row in rows if holds(piece, text_of(row[1]))]


def _like(piece: Piece) -> tuple[str, tuple[SQLValue, ...]]:
    """Picks texts worth a closer look; LIKE folds only ASCII letters, so other cases are spelled out."""
    if piece.kind == "pair":
        return "instr(n.content, ?)", (piece.text,)
    spellings = {piece.text}
    if not piece.text.isascii():
        spellings |= {piece.text.lower(), piece.text.upper(), piece.text.capitalize()}
    escaped = [_escaped(text) for text in sorted(spellings)]
    like = " OR ".join(["n.content LIKE ? ESCAPE '\\'"] * len(escaped))
    if (
        piece.is_short or piece.kind == "name"
    ) and piece.text.isascii():  # is glued to another script, which plain ASCII has not
        like = f"octet_length(n.content) > length(n.content) AND ({like})"
    return like, tuple(f"%{text}%" for text in escaped)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
