"""What the index of extra terms says of a query's pieces, checked against the texts of one snapshot."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import apsw

from tierdeck.search.query.terms import Term
from tierdeck.search.rows.condition import Condition
from tierdeck.search.words.inside_hit import worth_of
from tierdeck.search.words.piece_rows import Asked, PieceRows
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.terms.of_text import MAX_TEXT_CHARS
from tierdeck.terms.piece_spans import holds
from tierdeck.terms.pieces import Piece
from tierdeck.terms.term_index import TermIndex

# Of a piece that stands in more memories the newest so many are listed, and others are asked for by their text.
MAX_LISTED_ROWS = 2_000
MAX_CHECKED_ROWS = 20_000
_CHUNK_ROWS = 100
_TEXT = as_bytes(f"substr(n.content, 1, {MAX_TEXT_CHARS})")

Earned = dict[Piece, float]


@dataclass(frozen=True, slots=True)
class _Posting:
    """The memories that may hold one piece, by rowid, newest first; all of them when there are not too many."""

    asked: Asked
    worth: float
    rows: frozenset[int]
    lowest: int

    @property
    def piece(self) -> Piece:
        return self.asked.piece

    @property
    def is_complete(self) -> bool:
        return len(self.rows) < MAX_LISTED_ROWS

    def may_hold(self, rowid: int) -> bool:
        return rowid in self.rows or (not self.is_complete and rowid < self.lowest)


class Postings:
    """The pieces' memories, first the best of them, then any that is asked for. Every hit was seen in the text."""

    def __init__(
        self,
        conn: apsw.Connection,
        index: TermIndex,
        pieces: Sequence[Asked],
        terms: Sequence[Term],
        store_rows: int,
    ) -> None:
        self._conn = conn
        self._rows = PieceRows(conn, index)
        self._postings: list[_Posting] = []
        for asked in pieces:
            rows = self._rows.rows(asked, MAX_LISTED_ROWS)
            worth = worth_of(asked.piece, len(rows), terms, store_rows)
            self._postings.append(_Posting(asked, worth, frozenset(rows), rows[-1] if rows else -(1 << 63)))

    @property
    def worths(self) -> Earned:
        """What each piece is worth."""
        return {posting.piece: posting.worth for posting in self._postings}

    def best(self, condition: Condition, limit_rows: int) -> dict[str, Earned]:
        """The memories that meet the condition and earn the most, newest first among equals; what each earned.

        Of pieces in very many memories those are preferred that hold all of them.
        """
        found: dict[str, Earned] = {}
        checked = 0
        for rows in self._ordered():
            for node_id, text, rowid in self._texts(rows, condition):
                earned = self._earned(text, rowid)
                if earned:
                    found[node_id] = earned
            checked += len(rows)
            if len(found) >= limit_rows or checked >= MAX_CHECKED_ROWS:
                break
        return found

    def of(self, ids: Collection[str]) -> dict[str, Earned]:
        """What each of the memories earned; those that earned nothing are left out."""
        if not any(posting.rows for posting in self._postings):
            return {}
        numbers = self._conn.execute(
            "SELECT n.rowid FROM nodes n WHERE n.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )
        rows = [int(row[0]) for row in numbers]
        rows = [rowid for rowid in rows if any(posting.may_hold(rowid) for posting in self._postings)]
        texts = self._texts(rows, Condition("1", ()))
        return {node_id: earned for node_id, text, rowid in texts if (earned := self._earned(text, rowid))}

    def _earned(self, text: str, rowid: int) -> Earned:
        return {
            posting.piece: posting.worth
            for posting in self._postings
            if posting.may_hold(rowid) and holds(posting.piece, text)
        }

    def _ordered(self) -> Iterator[list[int]]:
        """Rowids in chunks: the listed ones by what they may earn, then older ones of pieces with more."""
        scores: dict[int, float] = {}
        for posting in self._postings:
            for rowid in posting.rows:
                scores[rowid] = scores.get(rowid, 0.0) + posting.worth
        endless = [posting for posting in self._postings if not posting.is_complete]
        of_terms = [posting for posting in endless if posting.asked.words is None]
        if len(of_terms) > 1:
            worth = sum(posting.worth for posting in of_terms)
            for rowid in self._rows.together([posting.asked for posting in of_terms], MAX_LISTED_ROWS):
                scores[rowid] = max(scores.get(rowid, 0.0), worth)
        order = sorted(scores, key=lambda rowid: (-scores[rowid], -rowid))
        yield from (order[at : at + _CHUNK_ROWS] for at in range(0, len(order), _CHUNK_ROWS))
        for posting in endless:
            below = posting.lowest
            while rows := self._rows.rows(posting.asked, MAX_LISTED_ROWS, below):
                below = rows[-1]
                yield [rowid for rowid in rows if rowid not in scores]

    def _texts(self, rows: Sequence[int], condition: Condition) -> list[tuple[str, str, int]]:
        """Id, text and rowid of those that meet the condition, in the order given."""
        found = self._conn.execute(
            f"SELECT {as_bytes('n.id')}, {_TEXT}, n.rowid FROM nodes n"
            f" WHERE n.rowid IN (SELECT value FROM json_each(?)) AND {condition.sql}",
            (json.dumps(list(rows)), *condition.params),
        )
        by_row = {int(row[2]): (text_of(row[0]), text_of(row[1]), int(row[2])) for row in found}
        return [by_row[rowid] for rowid in rows if rowid in by_row]
