"""The program that changes a store while others search it: a process of its own.

    python -m tests.tierdeck.search.churn.writer FILE CHANGES SEED (own | plain)

`own` goes through the library, `plain` through Python's sqlite3 alone, as a program that knows nothing of us. Every
write gives a memory a new generation, and its text, type, confidence and metadata say so in one transaction; eight
beacons always change together.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tests.family import INSERT_NODE
from tests.tierdeck.search.churn.said import BEACONS, Said, beacon, said

BEACON_ROUND = 12  # one round of other changes in so many is one of the beacons
MOST_AT_ONCE = 4


class Hand(Protocol):
    """One way to write; each call is one transaction."""

    def insert(self, rows: Sequence[Said], ids: Sequence[str]) -> None: ...
    def edit(self, rows: Sequence[Said], ids: Sequence[str]) -> None: ...
    def archive(self, node_id: str) -> None: ...
    def delete(self, node_id: str) -> None: ...


class PlainHand:
    """Another program's statements."""

    def __init__(self, path: Path) -> None:
        self._conn = sqlite3.connect(path, isolation_level=None, timeout=30)

    def insert(self, rows: Sequence[Said], ids: Sequence[str]) -> None:
        """Add memories."""
        with_ids = [
            (i, r.type, None, r.text, "task", r.confidence, None, r.metadata)
            for i, r in zip(ids, rows, strict=True)
        ]
        self._all(INSERT_NODE, with_ids)

    def edit(self, rows: Sequence[Said], ids: Sequence[str]) -> None:
        """Give memories another text and all that goes with it."""
        self._all(
            "UPDATE nodes SET content = ?, type = ?, confidence = ?, metadata = ? WHERE id = ?",
            [(row.text, row.type, row.confidence, row.metadata, i) for i, row in zip(ids, rows, strict=True)],
        )

    def archive(self, node_id: str) -> None:
        """Move a memory to the archive."""
        self._all("UPDATE nodes SET tier = 'archive' WHERE id = ?", [(node_id,)])

    def delete(self, node_id: str) -> None:
        """Delete a memory."""
        self._all("DELETE FROM nodes WHERE id = ?", [(node_id,)])

    def close(self) -> None:
        """Close the connection."""
        self._conn.close()

    def _all(self, sql: str, values: Sequence[tuple[object, ...]]) -> None:
        self._conn.execute("BEGIN IMMEDIATE")
        self._conn.executemany(sql, values)
        self._conn.execute("COMMIT")


class OwnHand:
    """The library; what it changes only one by one, a few memories at once, goes through its writer."""

    def __init__(self, path: Path) -> None:
        from tierdeck.store import open_store

        self._store = open_store(path)

    def insert(self, rows: Sequence[Said], ids: Sequence[str]) -> None:
        """Add memories."""
        from tierdeck.model import NodeDraft, NodeType
        from tierdeck.store import add_nodes

        add_nodes(
            self._store,
            [
                NodeDraft(
                    row.text,
                    id=node_id,
                    type=NodeType(row.type),
                    confidence=row.confidence,
                    metadata=json.loads(row.metadata),
                )
                for node_id, row in zip(ids, rows, strict=True)
            ],
        )

    def edit(self, rows: Sequence[Said], ids: Sequence[str]) -> None:
        """Give memories another text and all that goes with it."""
        from tierdeck.model import NodeChanges, NodeType
        from tierdeck.store import edit_node

        if len(rows) > 1:
            with self._store.writing() as conn:
                conn.executemany(
                    "UPDATE nodes SET content = ?, type = ?, confidence = ?, metadata = ? WHERE id = ?",
                    [(r.text, r.type, r.confidence, r.metadata, i) for i, r in zip(ids, rows, strict=True)],
                )
            return
        row = rows[0]
        changes = NodeChanges(
            content=row.text,
            type=NodeType(row.type),
            confidence=row.confidence,
            metadata=json.loads(row.metadata),
        )
        edit_node(self._store, ids[0], changes, actor="churn")

    def archive(self, node_id: str) -> None:
        """Move a memory to the archive."""
        from tierdeck.promote.moves.override import archive_nodes

        archive_nodes(self._store, [node_id], actor="churn")

    def delete(self, node_id: str) -> None:
        """Delete a memory, which the library itself never does."""
        with self._store.writing() as conn:
            conn.execute("DELETE FROM nodes WHERE id = ?", (node_id,))

    def close(self) -> None:
        """Close the store."""
        self._store.close()


def hand_for(path: Path, way: str) -> Hand:
    """The way to write that is named so."""
    return OwnHand(path) if way == "own" else PlainHand(path)


class Churn:
    """Random changes, as many as asked for; `live` are memories that are neither deleted nor archived."""

    def __init__(self, hand: Hand, seed: int, first_generation: int, live: list[str], beacons: list[str]) -> None:
        self._hand = hand
        self._rng = random.Random(seed)
        self._generation = first_generation
        self._live = live
        self._beacons = beacons

    def run(self, changes: int) -> None:
        """Change so many memories."""
        done = 0
        while done < changes:
            done += self._beacon_round() if self._rng.randrange(BEACON_ROUND) == 0 else self._one()

    def _next(self) -> int:
        self._generation += 1
        return self._generation

    def _beacon_round(self) -> int:
        generation = self._next()
        self._hand.edit([beacon(generation, n) for n in range(BEACONS)], self._beacons)
        return BEACONS

    def _one(self) -> int:
        kind = self._rng.random()
        if kind < 0.4 or len(self._live) < 10:
            row, count = said(self._next()), self._rng.choice((1, 1, 2, MOST_AT_ONCE))  # several of one text
            ids = [str(uuid.UUID(int=self._rng.getrandbits(128))) for _ in range(count)]
            self._hand.insert([row] * count, ids)
            self._live += ids
            return count
        at = self._rng.randrange(len(self._live))
        if kind < 0.75:
            self._hand.edit([said(self._next())], [self._live[at]])
        elif kind < 0.87:
            self._hand.archive(self._live.pop(at))
        else:
            self._hand.delete(self._live.pop(at))
        return 1


def main() -> None:
    """Read the ids that are there, and change what is asked for."""
    path, changes, seed, way = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    conn = sqlite3.connect(path)
    rows = conn.execute("SELECT id, content FROM nodes WHERE tier <> 'archive' ORDER BY id").fetchall()
    conn.close()
    beacons = [node_id for node_id, text in rows if text.startswith("beacon")]
    live = [node_id for node_id, text in rows if " gen" in text and not text.startswith("beacon")]
    Churn(hand_for(path, way), seed, len(rows) + 1_000, live, beacons).run(changes)


if __name__ == "__main__":
    main()
