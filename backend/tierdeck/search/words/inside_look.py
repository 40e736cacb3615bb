"""The look inside words: by the index of extra terms where that knows, into the texts themselves where it can't.

The index says which memories may hold a piece; the store's snapshot says which of them may be shown and whether
they hold it, so an index that lags behind gives no wrong hit. What changed since it was made is looked into, and so
is what it has a part of only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import apsw

from tierdeck.errors import IndexFileError
from tierdeck.index.history_mark import has_history
from tierdeck.search.query.terms import Term
from tierdeck.search.rows.condition import Condition
from tierdeck.search.words.inside_hit import Inside, InsideHit, worth_of, worthwhile
from tierdeck.search.words.inside_postings import Earned, Postings
from tierdeck.search.words.inside_scan import InsideScan
from tierdeck.search.words.partial_texts import PartialTexts, partial_texts
from tierdeck.search.words.piece_rows import asked_of
from tierdeck.terms.pieces import MAX_PIECE_CHARS, Piece
from tierdeck.terms.term_index import TermIndex

MAX_CHANGED_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class _Reach:
    """How far the index of extra terms speaks for the snapshot: for all but `changed`, or only for what it has."""

    is_whole: bool
    changed: tuple[str, ...] = ()


class InsideLook:
    """Looks inside the words of one snapshot's texts; without an index into the newest texts alone."""

    def __init__(
        self, conn: apsw.Connection, store_rows: int, index: TermIndex | None, *, keeps_changes: bool
    ) -> None:
        """
        Args:
            index: the store's extra terms.
            keeps_changes: whether the store says what changed; of another its newest texts are looked into too.
        """
        self._conn = conn
        self._store_rows = store_rows
        self._index = index
        self._keeps_changes = keeps_changes
        self._scan = InsideScan(conn)
        self._postings: Postings | None = None

    def find(self, pieces: Sequence[Piece], terms: Sequence[Term], condition: Condition, limit_rows: int) -> Inside:
        """The memories that meet the condition and hold a piece, each with what it earned.

        Args:
            terms: the query's words; `Piece.term` counts in it.
            limit_rows: how many the index of extra terms is to give; more of them may come.
        """
        wanted = worthwhile(pieces, terms)
        if not wanted:
            return Inside({})
        scanned: Iterable[Piece] = wanted
        earned: dict[str, Earned] = {}
        if self._index is not None:
            try:
                asked = [one for piece in wanted if (one := asked_of(piece))]
                self._postings = Postings(self._conn, self._index, asked, terms, self._store_rows)
                earned = self._postings.best(condition, limit_rows)
                self._add_unknown(earned, condition)
                if self._reach.is_whole:
                    scanned = [piece for piece in wanted if piece not in self._postings.worths]
            except IndexFileError:
                self._index, self._postings, earned = None, None, {}
        scanned = list(scanned)
        for piece in scanned:
            self._add_newest(earned, piece, terms, condition)
        note = self._scan.note if scanned else self._scan.note_on_changed or self._partial_note()
        hits = {node_id: InsideHit(tuple(pieces.items())) for node_id, pieces in earned.items()}
        return Inside(hits, tuple(wanted), note)

    def of(self, inside: Inside, ids: Collection[str]) -> Inside:
        """The same, with what the index of extra terms says of those memories: for candidates from elsewhere."""
        new = [node_id for node_id in ids if node_id not in inside.hits]
        if self._postings is None or not new:
            return inside
        try:
            found = {node_id: InsideHit(tuple(held.items())) for node_id, held in self._postings.of(new).items()}
        except IndexFileError:
            return inside
        return Inside({**inside.hits, **found}, inside.pieces, inside.note)

    def stands(self, text: str, condition: Condition) -> bool:
        """Whether a memory among those looked into holds the text as it stands."""
        return bool(self.find([Piece(text[:MAX_PIECE_CHARS], "sign", None)], (), condition, 1).hits)

    @cached_property
    def _reach(self) -> _Reach:
        progress = self._index.progress() if self._index is not None else None
        if progress is None or not progress.is_whole or not self._keeps_changes:
            return _Reach(is_whole=False)
        if not has_history(self._conn, progress.seen_seq, progress.seen_mark):
            return _Reach(is_whole=False)
        changed = self._conn.execute(
            "SELECT node_id FROM td_change WHERE seq > ? ORDER BY seq DESC LIMIT ?",
            (progress.seen_seq, MAX_CHANGED_ROWS + 1),
        ).fetchall()
        return _Reach(len(changed) <= MAX_CHANGED_ROWS, tuple(str(row[0]) for row in changed[:MAX_CHANGED_ROWS]))

    @cached_property
    def _partial(self) -> PartialTexts:
        return partial_texts(self._conn, self._index.partial_rows() if self._index is not None else ())

    def _partial_note(self) -> str | None:
        rows = self._partial.left_out if self._index is not None else 0
        return (
            f"of {rows:,} very long text{'s' if rows > 1 else ''} only a part was looked inside" if rows else None
        )

    def _add_unknown(self, earned: dict[str, Earned], condition: Condition) -> None:
        """What changed, and what the index has a part of, are looked into."""
        unknown = (self._partial.ids, self._reach.changed)
        for piece, worth in self._postings.worths.items() if self._postings else ():
            for ids in unknown:
                for node_id in self._scan.among(ids, piece, condition):
                    earned.setdefault(node_id, {})[piece] = worth

    def _add_newest(
        self, earned: dict[str, Earned], piece: Piece, terms: Sequence[Term], condition: Condition
    ) -> None:
        found = self._scan.newest(piece, terms, condition)
        known = self._postings.worths.get(piece, 0.0) if self._postings else 0.0
        worth = known or worth_of(piece, len(found), terms, self._store_rows)
        for node_id in found:
            earned.setdefault(node_id, {}).setdefault(piece, worth)
