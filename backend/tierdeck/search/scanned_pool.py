"""The nearest memories that may show, found by the scan of the bits.

Which memories may show is the store's to say, and it is asked about as few as possible: first about the nearest;
where a filter keeps many out, about candidates before they are compared; where it keeps nearly all out, for the
list of those it lets through. The last word is always one question about the memories themselves, in the store's
snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.model import content_hash
from tierdeck.search.allowed_keys import allowed_rows, is_among
from tierdeck.search.changed_since import changed_since
from tierdeck.search.condition import Condition, meeting
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.vectors.bit_scan import BitScan
from tierdeck.vectors.nearest_first import NearestFirst
from tierdeck.vectors.vector_index import VectorIndex

# When fewer than this of the nearest may show, too few of the candidates are left to be sure of the order.
_FULL_SHARE = 0.7
_GROWTH = 4
# So many rows are asked about for each one wanted, where all may show.
_ASKED_PER_ROW = 4
# When so large a part of the store was asked about row by row, listing what a condition allows is paid for.
_LIST_AFTER = 1 / 4
Slots = NDArray[np.intp]
Mask = NDArray[np.bool_]


class ScannedPool:
    """The pool of one query under one condition."""

    def __init__(self, conn: apsw.Connection, condition: Condition, scan: BitScan, index: VectorIndex) -> None:
        self._conn = conn
        self._condition = condition
        self._scan = scan
        self._index = index
        self._rows = allowed_rows(conn)

    def best(self, limit_rows: int) -> list[str]:
        """The ids of the nearest memories that meet the condition and have a valid vector, nearest first."""
        scan, wanted = self._scan, self._scan.enough_for(limit_rows)
        if self._rows.are_known(self._conn, self._condition):
            return self._listed(limit_rows, wanted)
        nearest = scan.candidates(wanted)
        found, share = self._first_valid(nearest, limit_rows)
        if len(nearest) < wanted or (len(found) >= limit_rows and share >= _FULL_SHARE):
            return found
        # Asking about single rows takes as long as listing all that are allowed when there are so few of those.
        asking = _ASKED_PER_ROW * limit_rows
        is_worth_asking = share**2 * scan.slots_count >= asking
        if is_worth_asking and not self._has_asked_enough(int(asking / share)):
            nearest = scan.candidates(int(1.2 * wanted / share), may_show=self._may_show)
            found, _ = self._first_valid(nearest, limit_rows)
            if len(found) >= limit_rows:
                return found
        return self._listed(limit_rows, wanted)

    def _has_asked_enough(self, rows: int) -> bool:
        asked = self._rows.asked(self._conn, self._condition, rows)
        return asked > _LIST_AFTER * self._scan.slots_count

    def _listed(self, limit_rows: int, wanted: int) -> list[str]:
        """By the list of all that the condition lets through."""
        allowed = self._allowed()
        while True:
            nearest = self._scan.candidates(wanted, allowed)
            found, _ = self._first_valid(nearest, limit_rows)
            if len(found) >= limit_rows or len(nearest) < wanted:
                return found
            wanted *= _GROWTH  # most of the nearest vectors are of older texts

    def _first_valid(self, nearest: NearestFirst, limit_rows: int) -> tuple[list[str], float]:
        """The first that may show and whose vector counts, and the share of such ones among those looked at."""
        found: list[tuple[float, str]] = []
        looked_at = 0
        while len(found) < limit_rows:
            missing = limit_rows - len(found)
            slots, cosines = nearest.next(max(32, missing + missing // 4))
            if not len(slots):
                break
            looked_at += len(slots)
            ids = self._scan.ids(slots)
            valid = self._valid(ids)
            found += [
                (-cosine, node_id)
                for node_id, cosine in zip(ids, cosines.tolist(), strict=True)
                if node_id in valid
            ]
        found.sort(key=lambda pair: pair[0])
        return [node_id for _, node_id in found[:limit_rows]], len(found) / max(1, looked_at)

    def _valid(self, ids: Sequence[str]) -> set[str]:
        """Those that meet the condition in the snapshot and whose vector is of their text, as far as is known."""
        allowed = meeting(self._conn, self._condition, ids)
        made_from = self._index.hashes([node_id for node_id in ids if node_id in allowed])
        return {node_id for node_id in made_from if self._is_of(node_id, made_from[node_id])}

    def _is_of(self, node_id: str, made_from: str) -> bool:
        if self._changed is not None and node_id not in self._changed:
            return True
        row = self._conn.execute(f"SELECT {as_bytes('content')} FROM nodes WHERE id = ?", (node_id,)).fetchone()
        return row is not None and content_hash(text_of(row[0])) == made_from

    def _may_show(self, slots: Slots) -> Mask:
        """Of slots in order whether their memories may meet the condition; asked by rowid where it is known."""
        keys, numbers = self._scan.keys(slots), self._scan.numbers(slots)
        if self._changed is None:
            ids = self._scan.ids(slots)
            allowed_ids = meeting(self._conn, self._condition, ids)
            return np.array([node_id in allowed_ids for node_id in ids], np.bool_)
        rows = self._conn.execute(
            "SELECT n.rowid FROM json_each(?) j CROSS JOIN nodes n ON n.rowid = j.value"
            f" WHERE {self._condition.sql}",
            (json.dumps(keys.tolist()), *self._condition.params),
        )
        allowed = np.fromiter((row[0] for row in rows), np.int64)
        may_show: Mask = is_among(keys, allowed) | (keys == 0) | np.isin(numbers, self._changed_numbers)
        return may_show

    def _allowed(self) -> Slots:
        """The slots, in order, whose memories may meet the condition."""
        state = (self._scan.state, self._scan.seen)
        return self._rows.slots(self._conn, self._condition, state, lambda: np.flatnonzero(self._allowed_mask()))

    def _allowed_mask(self) -> Mask:
        """Of each slot whether its memory may meet the condition."""
        if self._changed is None:
            sql = f"SELECT {as_bytes('n.id')} FROM nodes n WHERE {self._condition.sql}"
            ids = (text_of(row[0]) for row in self._conn.execute(sql, self._condition.params))
            return np.isin(self._scan.numbers(), self._scan.numbers_of(ids))
        keys = self._scan.keys()
        allowed: Mask = is_among(keys, self._rows.keys(self._conn, self._condition)) | (keys == 0)
        if len(self._changed_numbers):
            allowed |= np.isin(self._scan.numbers(), self._changed_numbers)
        return allowed

    @cached_property
    def _changed(self) -> frozenset[str] | None:
        """The memories of which the index does not know how they are now; None where it can't be told."""
        return changed_since(self._conn, *self._scan.seen)

    @cached_property
    def _changed_numbers(self) -> NDArray[np.int64]:
        return self._scan.numbers_of(self._changed or ())
