"""The nearest memories that may show, found by the scan of the bits.

Which memories may show is the store's to say, and it is asked about as few as possible: first about the nearest;
where a filter keeps many out, about candidates before they are compared; where it keeps nearly all out, for the
list of those it lets through. The last word is always one question about the memories themselves, in the store's
snapshot.
"""

from __future__ import annotations

import math

import apsw

from tierdeck.search.meaning.allowed_keys import known_rows
from tierdeck.search.meaning.slot_memories import SlotMemories
from tierdeck.search.rows.condition import Condition
from tierdeck.search.rows.exclusion import Exclusion
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.vectors.bit_scan import BitScan
from tierdeck.vectors.nearest_first import NearestFirst
from tierdeck.vectors.vector_index import VectorIndex

# When fewer than this of the nearest may show, too few of the candidates are left to be sure of the order.
_FULL_SHARE = 0.7
_GROWTH = 4
# Of so many of the nearest one is taken not to show; more are given than have to be the nearest.
_ONE_HIDDEN_OF = 8
# So many rows are asked about for each one wanted, where all may show.
_ASKED_PER_ROW = 4
# Vectors of one and the same text are all candidates; where none of them may show, another way finds what may.
_MOST_HIDDEN = 2_000
# When so large a part of the store was asked about row by row, listing what a condition allows is paid for.
_LIST_AFTER = 1 / 8


class ScannedPool:
    """The pool of one query under one condition.

    `compared`: of every memory found, the product of its vector with the query, and that with the store's mean.
    """

    def __init__(
        self,
        conn: apsw.Connection,
        condition: Condition,
        scan: BitScan,
        index: VectorIndex,
        memories: ReadMemories | None = None,
        sure_rows: int | None = None,
        exclusion: Exclusion | None = None,
    ) -> None:
        """
        Args:
            memories, exclusion: see `SlotMemories`.
            sure_rows: how many have to be the nearest that there are; all when it is None.
        """
        self._scan = scan
        self._sure_rows = sure_rows
        self.compared: dict[str, tuple[float, float]] = {}
        self._rows = known_rows(conn, condition)
        self._memories = SlotMemories(conn, condition, scan, index, self._rows, memories, exclusion)

    @property
    def allowed_rows(self) -> int | None:
        """How many memories meet the condition, where that is known by now."""
        return self._rows.count

    def best(self, limit_rows: int) -> list[str]:
        """The ids of the nearest memories that meet the condition and have a valid vector, nearest first.

        Beyond `sure_rows` they are the nearest of those compared so far.
        """
        wanted = self._scan.enough_for(limit_rows)
        if self._rows.are_listed:
            return self._listed(limit_rows, wanted)
        if self._rows.share >= _FULL_SHARE:
            nearest = self._scan.candidates(wanted)
            found, self._rows.share, looked_at = self._first_valid(nearest, limit_rows, _MOST_HIDDEN)
            are_all = len(nearest) < wanted and looked_at >= len(nearest)
            if are_all or (len(found) >= limit_rows and self._rows.share >= _FULL_SHARE):
                return found
        if self._is_worth_asking(limit_rows):
            more = int(1.2 * wanted / self._rows.share)
            nearest = self._scan.candidates(more, may_show=self._memories.may_show)
            found, _, _ = self._first_valid(nearest, limit_rows)
            if len(found) >= limit_rows:
                return found
        return self._listed(limit_rows, wanted)

    def _is_worth_asking(self, limit_rows: int) -> bool:
        """Whether asking about single rows takes less than listing all that are allowed."""
        asking, share, slots = _ASKED_PER_ROW * limit_rows, self._rows.share, self._scan.slots_count
        if share**2 * slots < asking:
            return False
        self._rows.asked_rows += int(asking / share)
        return self._rows.asked_rows <= _LIST_AFTER * slots

    def _listed(self, limit_rows: int, wanted: int) -> list[str]:
        """By the list of all that the condition lets through."""
        allowed = self._memories.allowed()
        while True:
            nearest = self._scan.candidates(wanted, allowed)
            found, _, _ = self._first_valid(nearest, limit_rows)
            if len(found) >= limit_rows or len(nearest) < wanted:
                return found
            wanted *= _GROWTH  # most of the nearest vectors are of older texts

    def _first_valid(
        self, nearest: NearestFirst, limit_rows: int, most_hidden: float = math.inf
    ) -> tuple[list[str], float, int]:
        """The first that may show and whose vector counts, their share of those looked at, and how many that were.

        Args:
            most_hidden: when more than so many may not show, it is given up.
        """
        found: list[tuple[float, str]] = []
        looked_at = 0
        while len(found) < limit_rows and looked_at - len(found) <= most_hidden:
            missing = limit_rows - len(found)
            unsure = max(1, min(limit_rows, self._sure_rows or limit_rows) - len(found))
            slots, cosines = nearest.next(max(32, missing + missing // 4), unsure + unsure // _ONE_HIDDEN_OF)
            if not len(slots):
                break
            looked_at += len(slots)
            valid = self._memories.valid(slots)
            cosine_of = dict(zip(slots.tolist(), cosines.tolist(), strict=True))
            found += [(-cosine_of[slot], node_id) for slot, node_id in valid.items()]
            for (slot, node_id), along in zip(valid.items(), self._scan.mean_products(valid), strict=True):
                self.compared[node_id] = (cosine_of[slot], along)
        found.sort(key=lambda pair: pair[0])
        return [node_id for _, node_id in found[:limit_rows]], len(found) / max(1, looked_at), looked_at
