"""The nearest memories that may show, found by the scan of the bits.

Which memories may show is the store's to say, and it is asked about as few as possible: first about the nearest;
where a filter keeps many out, about more candidates; where it keeps nearly all out, for the list of those it lets
through. The last word is always one question about the memories themselves, in the store's snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.model import content_hash
from tierdeck.search.allowed_keys import allowed_keys, has_allowed_keys, is_among
from tierdeck.search.changed_since import changed_since
from tierdeck.search.condition import Condition, meeting
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.vectors.bit_scan import BitScan, Near
from tierdeck.vectors.vector_index import VectorIndex

# When fewer than this of the nearest may show, too few of the candidates are left to be sure of the order.
_FULL_SHARE = 0.7
_GROWTH = 4
Slots = NDArray[np.intp]
Mask = NDArray[np.bool_]


class ScannedPool:
    """The pool of one query under one condition."""

    def __init__(self, conn: apsw.Connection, condition: Condition, scan: BitScan, index: VectorIndex) -> None:
        self._conn = conn
        self._condition = condition
        self._scan = scan
        self._index = index

    def best(self, limit_rows: int) -> list[str]:
        """The ids of the nearest memories that meet the condition and have a valid vector, nearest first."""
        scan, wanted = self._scan, self._scan.enough_for(limit_rows)
        if has_allowed_keys(self._conn, self._condition):
            return self._listed(limit_rows, wanted)
        slots = scan.candidates(wanted)
        found, share = self._first_valid(scan.exact(slots), limit_rows)
        if len(slots) < wanted or (len(found) >= limit_rows and share >= _FULL_SHARE):
            return found
        # Asking about single rows takes as long as listing all that are allowed when there are so few of those.
        if share**2 * scan.slots_count >= wanted:
            more = scan.candidates(int(1.2 * wanted / share))
            found, _ = self._first_valid(scan.exact(more[self._may_show(more)]), limit_rows)
            if len(found) >= limit_rows:
                return found
        return self._listed(limit_rows, wanted)

    def _listed(self, limit_rows: int, wanted: int) -> list[str]:
        """By the list of all that the condition lets through."""
        allowed = self._allowed
        while True:
            slots = self._scan.candidates(wanted, allowed)
            found, _ = self._first_valid(self._scan.exact(slots), limit_rows)
            if len(found) >= limit_rows or len(slots) < wanted:
                return found
            wanted *= _GROWTH  # most of the nearest vectors are of older texts

    def _first_valid(self, near: Near, limit_rows: int) -> tuple[list[str], float]:
        """The first that may show and whose vector counts, and the share of such ones among those looked at."""
        found: list[str] = []
        looked_at = 0
        while len(found) < limit_rows and looked_at < len(near.numbers):
            missing = limit_rows - len(found)
            count = max(32, missing + missing // 4)
            ids = self._scan.ids(near.numbers[looked_at : looked_at + count])
            looked_at += len(ids)
            found += self._valid(ids)
        return found[:limit_rows], len(found) / max(1, looked_at)

    def _valid(self, ids: Sequence[str]) -> list[str]:
        """Those that meet the condition in the snapshot and whose vector is of their text, as far as is known."""
        allowed = meeting(self._conn, self._condition, ids)
        made_from = self._index.hashes([node_id for node_id in ids if node_id in allowed])
        return [node_id for node_id in ids if node_id in made_from and self._is_of(node_id, made_from[node_id])]

    def _is_of(self, node_id: str, made_from: str) -> bool:
        if self._changed is not None and node_id not in self._changed:
            return True
        row = self._conn.execute(f"SELECT {as_bytes('content')} FROM nodes WHERE id = ?", (node_id,)).fetchone()
        return row is not None and content_hash(text_of(row[0])) == made_from

    def _may_show(self, slots: Slots) -> Mask:
        """Of each slot whether its memory may meet the condition; asked by rowid where it is known."""
        keys, numbers = self._scan.keys(slots), self._scan.numbers(slots)
        if self._changed is None:
            ids = self._scan.ids(numbers)
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

    @cached_property
    def _allowed(self) -> Mask:
        """Of each slot whether its memory may meet the condition."""
        if self._changed is None:
            sql = f"SELECT {as_bytes('n.id')} FROM nodes n WHERE {self._condition.sql}"
            ids = (text_of(row[0]) for row in self._conn.execute(sql, self._condition.params))
            return np.isin(self._scan.numbers(), self._scan.numbers_of(ids))
        keys = self._scan.keys()
        allowed: Mask = is_among(keys, allowed_keys(self._conn, self._condition)) | (keys == 0)
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
