"""What the store says in one snapshot of the memories whose vectors lie in slots of the index.

A slot's memory is asked about by its rowid, which the index keeps beside the bits. What the store changed since the
index looked at it last is asked about by id: its rowid may be another memory's by now, and its text another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.model import content_hash
from tierdeck.search.meaning.allowed_keys import KnownRows, is_among
from tierdeck.search.rows.changed_since import changed_since
from tierdeck.search.rows.condition import Condition, meeting
from tierdeck.search.rows.exclusion import Exclusion
from tierdeck.search.rows.read_memories import ReadMemories
from tierdeck.store.rows import as_bytes, text_of
from tierdeck.vectors.bit_scan import BitScan
from tierdeck.vectors.vector_index import VectorIndex

Slots = NDArray[np.intp]
Mask = NDArray[np.bool_]


class SlotMemories:
    """The memories of one scan's slots under one condition."""

    def __init__(
        self,
        conn: apsw.Connection,
        condition: Condition,
        scan: BitScan,
        index: VectorIndex,
        rows: KnownRows,
        memories: ReadMemories | None = None,
        exclusion: Exclusion | None = None,
    ) -> None:
        """
        Args:
            condition: what may be shown.
            memories: where what is likely to be shown is read, when more of it is wanted than the ids.
            exclusion: what of the condition single memories are asked about by their texts.
        """
        self._memories = memories
        self._exclusion = exclusion
        self._conn = conn
        self._condition = condition
        self._row_condition = condition if exclusion is None else exclusion.condition
        self._scan = scan
        self._index = index
        self._rows = rows

    def valid(self, slots: Slots) -> dict[int, str]:
        """The ids, by slot, of those that meet the condition and have a vector of their text of now."""
        changed = self._changed
        if changed is None:
            return self._valid_by_id(slots.tolist())
        keys = dict(zip(slots.tolist(), self._scan.keys(slots).tolist(), strict=True))
        meet = self._read(keys.values())
        known = {slot: meet[key] for slot, key in keys.items() if key in meet and meet[key] not in changed}
        finished = self._finished(known.values())
        found = {slot: node_id for slot, node_id in known.items() if node_id in finished}
        # With nothing changed a row that does not meet the condition by its rowid does not by its id.
        others = [slot for slot, key in keys.items() if slot not in known and (changed or not key)]
        return found | self._valid_by_id(others) if others else found

    def may_show(self, slots: Slots) -> Mask:
        """Of each slot whether its memory may meet the condition."""
        if self._changed is None:
            ids = self._scan.ids(slots)
            allowed_ids = self._meeting(ids)
            return np.array([node_id in allowed_ids for node_id in ids], np.bool_)
        keys = self._scan.keys(slots)
        look = self._numbered if self._exclusion is None else self._read
        meet = np.array(list(look(keys.tolist())), np.int64)
        may_show: Mask = is_among(keys, meet) | (keys == 0) | self._has_changed(self._scan.numbers(slots))
        return may_show

    def allowed(self) -> Slots:
        """All slots, in order, whose memories may meet the condition."""
        state = (self._scan.state, self._scan.seen)
        return self._rows.slots(state, lambda: np.flatnonzero(self._allowed_mask()))

    def _allowed_mask(self) -> Mask:
        if self._changed is None:
            sql = f"SELECT {as_bytes('n.id')} FROM nodes n WHERE {self._condition.sql}"
            ids = (text_of(row[0]) for row in self._conn.execute(sql, self._condition.params))
            return np.isin(self._scan.numbers(), self._scan.numbers_of(ids))
        keys = self._scan.keys()
        allowed: Mask = is_among(keys, self._rows.keys(self._conn)) | (keys == 0)
        return allowed | self._has_changed(self._scan.numbers()) if self._changed else allowed

    def _numbered(self, keys: Iterable[int]) -> dict[int, str]:
        """The ids, by rowid, of the memories with those rowids that meet the condition but for the exclusion."""
        rows = self._conn.execute(
            f"SELECT n.rowid, {as_bytes('n.id')} FROM json_each(?) j CROSS JOIN nodes n ON n.rowid = j.value"
            f" WHERE n.rowid <> 0 AND {self._row_condition.sql}",
            (json.dumps(list(keys)), *self._row_condition.params),
        )
        return {int(rowid): text_of(node_id) for rowid, node_id in rows}

    def _read(self, keys: Iterable[int]) -> dict[int, str]:
        """Those that meet the condition, for memories that are likely to be shown."""
        if self._memories is None:
            found = self._numbered(keys)
        else:
            found = self._memories.numbered([key for key in keys if key], self._row_condition)
        if self._exclusion is None:
            return found
        excluded = self._exclusion.holding(found.values())
        return {key: node_id for key, node_id in found.items() if node_id not in excluded}

    def _meeting(self, ids: list[str]) -> set[str]:
        """Those of the memories that meet the condition."""
        found = meeting(self._conn, self._row_condition, ids)
        return found if self._exclusion is None else found - self._exclusion.holding(found)

    def _finished(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of unchanged memories whose vector is of their text."""
        unfinished = self._index.unfinished()
        if unfinished is None:
            return frozenset(self._index.hashes(ids))
        return frozenset(ids) - unfinished

    def _valid_by_id(self, slots: list[int]) -> dict[int, str]:
        ids = dict(zip(slots, self._scan.ids(np.array(slots, np.intp)), strict=True))
        made_from = self._index.hashes(self._meeting(list(ids.values())))
        valid = {node_id for node_id in made_from if self._is_of(node_id, made_from[node_id])}
        return {slot: node_id for slot, node_id in ids.items() if node_id in valid}

    def _is_of(self, node_id: str, made_from: str) -> bool:
        if self._changed is not None and node_id not in self._changed:
            return True
        row = self._conn.execute(f"SELECT {as_bytes('content')} FROM nodes WHERE id = ?", (node_id,)).fetchone()
        return row is not None and content_hash(text_of(row[0])) == made_from

    @cached_property
    def _changed(self) -> frozenset[str] | None:
        """The memories of which the index does not know how they are now; None where it can't be told."""
        return changed_since(self._conn, *self._scan.seen)

    def _has_changed(self, numbers: NDArray[np.int64]) -> Mask:
        return np.isin(numbers, self._changed_numbers)

    @cached_property
    def _changed_numbers(self) -> NDArray[np.int64]:
        return self._scan.numbers_of(self._changed or ())
