"""A bounded look into texts for pieces of a query: the newest ones, or those that changed of late.

It reads at most 16 MB of text (20 ms for each piece), newest memories first, and says when the store holds more, or
longer texts than one look takes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import apsw

from tierdeck.search.query.fts import quoted
from tierdeck.search.query.terms import Term
from tierdeck.search.rows.condition import NOT_MATCHING, Condition
from tierdeck.search.words.odd_texts import MAX_ODD_BYTES, odd_texts
from tierdeck.store.rows import SQLValue, as_bytes, text_of
from tierdeck.terms.piece_spans import holds
from tierdeck.terms.pieces import Piece

MAX_SCANNED_BYTES = 16_000_000
MAX_TEXT_BYTES = 1_000_000
MAX_FOUND_ROWS = 400
_BATCH_ROWS = 5_000
_NO_LIMIT = (1 << 63) - 1
_MEGABYTES, _TEXT_MEGABYTES = MAX_SCANNED_BYTES // 1_000_000, MAX_TEXT_BYTES // 1_000_000
_ODD_MEGABYTES = MAX_ODD_BYTES // 1_000_000
_SIZES = "SELECT rowid AS pk, octet_length(content) AS bytes FROM nodes WHERE rowid < ? ORDER BY rowid DESC LIMIT ?"
# To what an ASCII word may be glued: characters that are not ASCII, and escape sequences.
_MAY_GLUE = (
    "(octet_length(n.content) > length(n.content) OR instr(n.content, char(27)) OR n.content GLOB '*[[][0-9]*')"
)


@dataclass(frozen=True, slots=True)
class _Reach:
    """From which row number on texts are looked into, whether that is all, and how many of them are too long."""

    floor: int
    is_all: bool
    too_long: int


class InsideScan:
    """Looks into the texts of one snapshot by SQL; how far back it reaches is found out once."""

    def __init__(self, conn: apsw.Connection) -> None:
        self._conn = conn
        self._allowed: dict[tuple[str, ...], str] = {}
        self._left_out = 0
        self._knows_all_odd = True

    @property
    def note(self) -> str | None:
        """How far a look into the newest texts goes, when not to the end."""
        reach = self._reach
        said = [] if reach.is_all else [f"looked inside words in the newest {_MEGABYTES} MB of text only"]
        if reach.too_long:
            said.append(f"did not look inside {_memories(reach.too_long)} of more than {_TEXT_MEGABYTES} MB")
        if not self._knows_all_odd:
            said.append(f"looked for other forms of letters in the newest {_ODD_MEGABYTES} MB that have such only")
        return "; ".join(said) or None

    @property
    def note_on_changed(self) -> str | None:
        """How many of those asked for by their ids were not looked into, when some were not."""
        return f"did not look inside {_memories(self._left_out)} that changed" if self._left_out else None

    def newest(self, piece: Piece, terms: Sequence[Term], condition: Condition) -> list[str]:
        """The memories among the newest that meet the condition and hold the piece, newest first.

        Args:
            terms: the query's words; memories that hold the piece's word whole are left out.
        """
        return self._holding(piece, "n.rowid >= ?", self._reach.floor, terms, condition)

    def among(self, ids: tuple[str, ...], piece: Piece, condition: Condition) -> list[str]:
        """Those of the memories that meet the condition and hold the piece."""
        if not ids:
            return []
        where = "n.id IN (SELECT value FROM json_each(?))"
        return self._holding(piece, where, self._among_allowed(ids), (), condition)

    @cached_property
    def _reach(self) -> _Reach:
        below, left, too_long = _NO_LIMIT, MAX_SCANNED_BYTES, 0
        while True:
            row = self._conn.execute(
                f"SELECT min(pk), sum(iif(bytes > {MAX_TEXT_BYTES}, 0, bytes)), sum(bytes > {MAX_TEXT_BYTES})"
                f" FROM ({_SIZES})",
                (below, _BATCH_ROWS),
            ).fetchall()[0]
            if row[0] is None:
                return _Reach(below, is_all=True, too_long=too_long)
            lowest, size, more = (int(str(value)) for value in row)
            if size > left:
                return self._within(below, left, too_long)
            below, left, too_long = lowest, left - size, too_long + more

    def _within(self, below: int, left: int, too_long: int) -> _Reach:
        """Where the bytes that are left end, among the next few texts."""
        floor = below
        for row in self._conn.execute(_SIZES, (below, _BATCH_ROWS)):
            size = int(row[1])
            is_too_long = size > MAX_TEXT_BYTES
            left -= 0 if is_too_long else size
            if left < 0:
                break
            floor, too_long = int(row[0]), too_long + is_too_long
        return _Reach(floor, is_all=False, too_long=too_long)

    def _among_allowed(self, ids: tuple[str, ...]) -> str:
        """The first of the memories whose texts make up the bytes allowed, as JSON."""
        if ids not in self._allowed:
            sizes = {
                text_of(row[0]): int(str(row[1]))
                for row in self._conn.execute(
                    f"SELECT {as_bytes('n.id')}, octet_length(n.content) FROM nodes n"
                    " WHERE n.id IN (SELECT value FROM json_each(?))",
                    (json.dumps(list(ids)),),
                )
            }
            there = [node_id for node_id in ids if sizes.get(node_id, MAX_TEXT_BYTES + 1) <= MAX_TEXT_BYTES]
            used = accumulate(sizes[node_id] for node_id in there)
            allowed = [node_id for node_id, size in zip(there, used, strict=True) if size <= MAX_SCANNED_BYTES]
            self._allowed[ids] = json.dumps(allowed)
            self._left_out = len(sizes) - len(allowed)
        return self._allowed[ids]

    def _holding(
        self, piece: Piece, where: str, value: SQLValue, terms: Sequence[Term], condition: Condition
    ) -> list[str]:
        among, shown = Condition(where, (value,)), _without_word(condition, piece, terms)
        found = self._seen(piece, (among, shown, _like(piece)), MAX_FOUND_ROWS)
        odd = odd_texts(self._conn, where, value, MAX_TEXT_BYTES)
        self._knows_all_odd &= odd.is_all
        rows = odd.rows_with(piece.text)
        if rows:
            among = Condition("n.rowid IN (SELECT value FROM json_each(?))", (json.dumps(rows),))
            found |= self._seen(piece, (among, shown), len(rows))
        return [found[rowid] for rowid in sorted(found, reverse=True)[:MAX_FOUND_ROWS]]

    def _seen(self, piece: Piece, conditions: Sequence[Condition], limit_rows: int) -> dict[int, str]:
        """The ids of those that hold the piece among the newest that meet the conditions, by rowid."""
        where = " AND ".join(f"({condition.sql})" for condition in conditions)
        rows = self._conn.execute(
            f"SELECT n.rowid, {as_bytes('n.id')}, CAST(n.content AS BLOB) FROM nodes n"
            f" WHERE {where} AND octet_length(n.content) <= {MAX_TEXT_BYTES} ORDER BY n.rowid DESC LIMIT ?",
            (*(value for condition in conditions for value in condition.params), limit_rows),
        )
        return {int(str(row[0])): text_of(row[1]) for row in rows if holds(piece, text_of(row[2]))}


def _without_word(condition: Condition, piece: Piece, terms: Sequence[Term]) -> Condition:
    """The condition, and that the memory does not hold the piece's word whole."""
    if piece.kind != "part" or piece.term is None or not terms:
        return condition
    word = quoted(terms[piece.term].text)
    return Condition(f"{condition.sql} AND {NOT_MATCHING}", (*condition.params, word))


def _like(piece: Piece) -> Condition:
    """Picks texts worth a closer look; LIKE folds only ASCII letters, so other cases are spelled out."""
    if piece.kind == "pair":
        return Condition("instr(n.content, ?)", (piece.text,))
    spellings = {piece.text}
    if not piece.text.isascii():
        spellings |= {piece.text.lower(), piece.text.upper(), piece.text.capitalize()}
    escaped = [_escaped(text) for text in sorted(spellings)]
    like = " OR ".join(["n.content LIKE ? ESCAPE '\\'"] * len(escaped))
    if (piece.is_short or piece.kind == "name") and piece.text.isascii():
        like = f"{_MAY_GLUE} AND ({like})"
    return Condition(like, tuple(f"%{text}%" for text in escaped))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _memories(count: int) -> str:
    return f"{count:,} memor{'ies' if count > 1 else 'y'}"
