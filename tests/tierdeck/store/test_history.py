"""What the logs say of a memory: moves, confidence, accesses."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from math import isnan
from pathlib import Path

import pytest

from tests.family import family_id
from tests.tierdeck.store.foreign import make_foreign_store
from tierdeck.model import AccessKind, NodeDraft
from tierdeck.promote import record_accesses
from tierdeck.store import (
    AccessSummary,
    Store,
    access_summary,
    accesses,
    add_node,
    add_session,
    confidence_changes,
    open_store,
    tier_moves,
)

NOON = 1_796_040_000_000
DAY = 86_400_000


@pytest.mark.spec("SPEC-02.19")
def test_the_moves_and_confidence_that_the_family_wrote_are_read(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        [move] = tier_moves(store, family_id(3))
        assert (move.operation, move.from_tier, move.to_tier) == ("tier_transition", "task", "session")
        [change] = confidence_changes(store, family_id(3))
        assert (change.old, change.new, change.trigger, change.trigger_id) == (0.5, 0.7, "outcome", "s0")
        assert tier_moves(store, family_id(1)) == []
        assert confidence_changes(store, family_id(1)) == []


def test_a_log_of_another_program_is_read_whatever_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(path, [{"id": "a", "content": "x"}])
    moves = [
        ("2026-11-30", "consolidate", '["b", "a"]', "task", None, None),
        ("soon", "odd time", '["a"]', None, "session", "because"),
        (NOON - 1, "broken ids", '["a"', "task", "session", None),
        (NOON - 1, "other ids", '["aa", "A"]', "task", "session", None),
        (NOON // 1000, "in seconds", '"a"', "task", "session", None),
    ]
    with closing(sqlite3.connect(path)) as conn:
        conn.executemany(
            "INSERT INTO evolution_log (timestamp, operation, node_ids, from_tier, to_tier, reasoning) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            moves,
        )
        conn.execute(
            "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, timestamp) "
            "VALUES ('a', 'low', 0.5, 'manual', 'soon')"
        )
        conn.execute("UPDATE evolution_log SET reasoning = CAST(x'ff' AS TEXT) WHERE operation = 'consolidate'")
        conn.commit()
    with open_store(path) as store:
        found = tier_moves(store, "a")
        assert [move.operation for move in found] == ["odd time", "consolidate", "in seconds"]
        assert [move.at_ms for move in found] == [None, NOON - DAY // 2, NOON]
        assert found[1].reasoning == "\ufffd"
        [change] = confidence_changes(store, "a")
        assert (isnan(change.old), change.new, change.at_ms) == (True, 0.5, None)


def test_the_oldest_stores_have_no_confidence_history(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    make_foreign_store(path, [{"id": "a", "content": "x"}])
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DROP TABLE confidence_updates")
    with open_store(path) as store:
        assert confidence_changes(store, "a") == []


def test_accesses_are_listed_newest_first_and_counted_by_kind_root_and_day(store: Store) -> None:
    node = add_node(store, NodeDraft("x"))
    root = add_session(store, "run-1")
    child = add_session(store, "helper", parent_id=root.id)
    other = add_session(store, "run-2")
    for session, kind, at_ms in (
        (root, AccessKind.PULL, NOON),
        (child, AccessKind.PULL, NOON + 1),
        (other, AccessKind.PULL, NOON + DAY),
        (other, AccessKind.PUSH, NOON + DAY),
        (other, AccessKind.SHOWN, NOON + 2 * DAY),
        (other, AccessKind.MAINTENANCE, NOON + 3 * DAY),
    ):
        record_accesses(store, session.id, [node.id], kind, at_ms=at_ms)
    assert access_summary(store, node.id) == AccessSummary(
        pulls=3,
        pushes=1,
        shown=1,
        maintenance=1,
        roots=2,
        first_pull_ms=NOON,
        last_pull_ms=NOON + DAY,
        by_day=(("2026-11-30", 2), ("2026-12-01", 1)),
        counted_pulls=3,
    )
    found = accesses(store, node.id)
    assert [access.at_ms for access in found] == sorted((access.at_ms for access in found), reverse=True)
    assert found[-1].session == root
    assert len(accesses(store, node.id, limit_rows=2)) == 2


def test_a_memory_never_looked_at_has_zeros(store: Store, family_store_path: Path) -> None:
    node = add_node(store, NodeDraft("x"))
    assert access_summary(store, node.id) == AccessSummary()
    assert accesses(store, node.id) == []
    with open_store(family_store_path) as theirs:
        assert access_summary(theirs, family_id(1)) == AccessSummary()
        assert accesses(theirs, family_id(1)) == []
