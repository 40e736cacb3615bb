"""Accesses recorded before there were rules count for them once the store is brought up to date."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.folder_state import folder_state
from tierdeck import migrate
from tierdeck.errors import ReadOnlyStoreError
from tierdeck.migrate import StoreKind
from tierdeck.promote.evidence.counts import recount
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.store import Store, get_node, open_store

DAY_MS = 86_400_000
BEGAN = 1_700_000_000_000
NOW = BEGAN + 100 * DAY_MS


def schema_2(path: Path, kind: StoreKind = StoreKind.OWN) -> apsw.Connection:
    """A store as the schema before promotion made it, empty, or that version's tables beside another program's."""
    conn = apsw.Connection(str(path))
    for step in migrate.migrations():
        if step.version <= 2 and (kind is StoreKind.OWN or not step.own_only):
            conn.execute(step.sql)
    conn.execute("INSERT INTO td_setting (key, value) VALUES ('schema_version', '2')")
    return conn


def add_memory(conn: apsw.Connection, node_id: str, tier: str = "task", confidence: float = 0.9) -> None:
    conn.execute(
        "INSERT INTO nodes (id, type, content, tier, confidence, created_at, last_accessed) "
        "VALUES (?1, 'fact', ?1, ?2, ?3, ?4, ?4)",
        (node_id, tier, confidence, BEGAN),
    )


def add_pulls(conn: apsw.Connection, session: int, pulls: Sequence[tuple[str, int]], *, root: int = 0) -> None:
    """A session with pulls (memory, day); every third ended well, every third badly."""
    conn.execute(
        "INSERT INTO td_session (id, external_id, root_id, parent_id, started_at, outcome) "
        "VALUES (?1, 's-' || ?1, ?2, nullif(?2, ?1), ?3, ?4)",
        (session, root or session, BEGAN, ("success", "failure", None)[session % 3]),
    )
    conn.executemany(
        "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, ?, 'pull', ?)",
        [(node_id, session, BEGAN + day * DAY_MS) for node_id, day in pulls],
    )


def kept(store: Store) -> dict[str, list[object]]:
    """The counts, each row by the memory's id."""
    columns = (
        "f.node_id, f.roots, f.max_in_root, f.ok, f.bad, f.first_pull, f.last_pull, f.last_pull_id, f.conf_min"
    )
    return store.read(
        lambda conn: {
            "facts": list(conn.execute(f"SELECT {columns} FROM td_facts f ORDER BY 1").fetchall()),
            "use": list(
                conn.execute(
                    "SELECT f.node_id, u.root, u.pulls, u.first_at, u.last_at, u.ok, u.bad "
                    "FROM td_use u JOIN td_facts f ON f.node = u.node ORDER BY 1, 2"
                ).fetchall()
            ),
        }
    )


def test_old_pulls_are_counted_when_a_store_is_brought_up_to_date_after_a_backup(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(schema_2(path)) as conn:
        add_memory(conn, "used")
        add_memory(conn, "unused")
        add_pulls(conn, 1, [("used", 1), ("used", 2)])
        add_pulls(conn, 2, [("used", 3)], root=1)
        add_pulls(conn, 3, [("used", 4)])
    with open_store(path, clock=lambda: NOW) as store:
        used, unused = read_facts(store, ["used", "unused"], NOW)
        assert (used.max_pulls, used.sessions, used.successes, used.failures) == (3, 2, 1, 1)
        assert (used.last_pull_ms, used.last_use_ms) == (BEGAN + 4 * DAY_MS, NOW), "tracking begins now"
        assert (unused.max_pulls, unused.sessions, unused.last_pull_ms) == (0, 0, None)
    [backup] = tmp_path.glob("memory.db.backup-*-schema-2")
    with closing(sqlite3.connect(backup)) as old:
        assert old.execute("SELECT count(*) FROM td_access").fetchone() == (4,)
        assert old.execute("SELECT 1 FROM sqlite_master WHERE name = 'td_facts'").fetchone() is None


@pytest.mark.parametrize("seed", range(5))
def test_what_bringing_up_to_date_counts_is_what_counting_anew_gives(tmp_path: Path, seed: int) -> None:
    path, draw = tmp_path / "memory.db", random.Random(seed)
    ids = [f"n-{n}" for n in range(12)]
    with closing(schema_2(path)) as conn:
        for node_id in ids:
            add_memory(conn, node_id, draw.choice(["task", "session", "longterm", "archive"]), draw.random())
        for session in range(1, 25):
            pulls = [(draw.choice(ids), draw.randint(0, 90)) for _ in range(draw.randint(0, 6))]
            add_pulls(conn, session, pulls, root=draw.randint(max(1, session - 2), session))
        for node_id in draw.choices(ids, k=30):
            at = draw.choice([BEGAN, 1_700_000_000]) + draw.randint(0, 90)
            conn.execute(
                "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, timestamp) "
                "VALUES (?, ?, ?, 'outcome', ?)",
                (node_id, draw.random(), draw.random(), at + draw.randint(0, 90) * DAY_MS),
            )
        for node_id in ids[:3]:
            conn.execute(
                "INSERT INTO td_revision (node_id, at, kind, actor, before) VALUES (?, ?, 'archive', 'me', '{}')",
                (node_id, BEGAN + 40 * DAY_MS),
            )
    with open_store(path) as store:
        counted = kept(store)
        assert len(counted["use"]) > 20
        with store.writing() as conn:
            recount(conn, logs_confidence=True)
        assert kept(store) == counted


def test_pulls_before_a_move_by_hand_are_no_evidence_and_none_call_back_what_was_archived(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(schema_2(path)) as conn:
        for node_id in ("moved", "archived"):
            add_memory(conn, node_id, "archive")
        add_pulls(conn, 1, [("moved", 1), ("archived", 1), ("moved", 9), ("archived", 9)])
        conn.execute(
            "INSERT INTO td_revision (node_id, at, kind, actor, before) VALUES ('moved', ?, 'archive', 'me', '{}')",
            (BEGAN + 5 * DAY_MS,),
        )
    with open_store(path) as store:
        moved, archived = read_facts(store, ["moved", "archived"], NOW)
    assert (moved.sessions, moved.max_pulls, archived.max_pulls) == (1, 1, 2)
    assert (moved.pulls_since, archived.pulls_since) == (0, 0), "when it came to the archive nobody knows"


def test_an_adopted_store_of_the_older_schema_is_counted_too(family_store_path: Path) -> None:
    node_id = "00000001-0000-4000-8000-000000000001"
    with closing(schema_2(family_store_path, StoreKind.ADOPTED)) as conn:
        add_pulls(conn, 1, [(node_id, 1), (node_id, 2)])
    with open_store(family_store_path) as store:
        assert store.kind is StoreKind.ADOPTED
        assert read_facts(store, [node_id], NOW)[0].max_pulls == 2


def test_an_older_store_that_is_only_read_shows_its_memories_and_says_what_promotion_needs(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(schema_2(path)) as conn:
        add_memory(conn, "a")
        add_pulls(conn, 1, [("a", 1)])
    before = folder_state(tmp_path)
    with open_store(path, read_only=True) as store:
        assert get_node(store, "a").content == "a"
        with pytest.raises(ReadOnlyStoreError, match="no accesses are recorded") as caught:
            read_facts(store, ["a"], NOW)
        assert caught.value.hint == "open it for writing once"
    assert folder_state(tmp_path) == before


def test_an_old_session_counts_as_met_when_it_was_last_seen(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(schema_2(path)) as conn:
        add_memory(conn, "a")
        add_pulls(conn, 1, [("a", 7)])
        add_pulls(conn, 2, [])
    with open_store(path) as store:
        seen = store.read(lambda conn: conn.execute("SELECT id, seen_at FROM td_session ORDER BY id").fetchall())
    assert seen == [(1, BEGAN + 7 * DAY_MS), (2, BEGAN)]
