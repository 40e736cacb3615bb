"""Stores full of random histories, written row by row as another program and the recorder would leave them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw

from tests.family import FAMILY_SCHEMA
from tierdeck.maintenance import adopt
from tierdeck.promote.evidence.counts import recount
from tierdeck.promote.rules import DAY_MS
from tierdeck.store import Store, open_store, set_setting

NOW_MS = 1_780_000_000_000
TIERS = ("task", "session", "longterm", "archive")
SESSIONS = 24
CONFIDENCES = (0.2, 0.5, 0.79, 0.8, 0.8000001, 0.9, 1.0)
# What other programs write where a time belongs: each is read by one rule, the same in SQL and in Python.
ODD_TIMES: tuple[int | float | str | None, ...] = (
    None, 0, "soon", "2026-05-01T10:00:00", "2026-05-01T10:00:00+09:00", "2026-05-01T10:00:00Z", "2026-01-05",
    1_777_600_000, 1_777_600_000.25, 1_777_600_000_000_000, NOW_MS + 10 * DAY_MS, "9999-12-31T23:59:59Z",
    253_402_300_799_000,
)  # fmt: skip
OUTCOMES = (None, None, "success", "success", "failure")


def own_store(path: Path) -> Store:
    """An empty store of ours."""
    return open_store(path, create=True, clock=lambda: NOW_MS)


def adopted_store(path: Path) -> Store:
    """An empty store of the family's program, adopted."""
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(FAMILY_SCHEMA)
    adopt(path)
    return open_store(path, clock=lambda: NOW_MS)


def fill(store: Store, seed: int, memories: int, *, tracked_days: int) -> None:
    """Write so many memories, each with a history of its own; the same for the same seed."""
    draw = random.Random(seed)
    set_setting(store, "tracking_since", str(NOW_MS - tracked_days * DAY_MS))
    ids = [f"{draw.getrandbits(128):032x}" for _ in range(memories)]
    with store.writing() as conn:
        _add_sessions(conn, draw)
        for node_id in ids:
            _add_memory(conn, draw, node_id)
        _add_accesses(conn, draw, ids)
        _begin_facts(conn, draw, ids)
        logs_confidence = store.has_table("confidence_updates")
        for node_id in ids:
            _log_confidences(conn, draw, node_id)
        recount(conn, ids, logs_confidence=logs_confidence)
        for node_id in ids:
            _change_unseen(conn, draw, node_id)
            _block(conn, draw, node_id)


def _add_sessions(conn: apsw.Connection, draw: random.Random) -> None:
    """A third are sub-agents of earlier ones, two levels deep at times."""
    roots: dict[int, int] = {}
    for number in range(1, SESSIONS + 1):
        parent = draw.randrange(1, number) if number > 3 and draw.random() < 0.33 else None
        roots[number] = number if parent is None else roots[parent]
        conn.execute(
            "INSERT INTO td_session (id, external_id, root_id, parent_id, started_at, outcome) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (number, f"s{number}", roots[number], parent, NOW_MS - 300 * DAY_MS, draw.choice(OUTCOMES)),
        )


def _add_memory(conn: apsw.Connection, draw: random.Random, node_id: str) -> None:
    conn.execute(
        "INSERT INTO nodes (id, type, content, tier, confidence, created_at, last_accessed) "
        "VALUES (?, 'fact', 'a memory', ?, ?, ?, ?)",
        (
            node_id, draw.choice(TIERS), draw.choice(CONFIDENCES), _time(draw, NOW_MS - 200 * DAY_MS),
            _time(draw, NOW_MS - draw.choice((0, 70, 76, 83, 90, 91, 120)) * DAY_MS),
        ),
    )  # fmt: skip


def _time(draw: random.Random, usual: int) -> int | float | str | None:
    if draw.random() < 0.2:
        return draw.choice(ODD_TIMES)
    return usual + draw.choice((-1, 0, 1, draw.randrange(-DAY_MS, DAY_MS)))


def _add_accesses(conn: apsw.Connection, draw: random.Random, ids: list[str]) -> None:
    """Some memories are looked at once, some often, in few sessions or in many; the accesses of all are mixed."""
    looks = []
    for node_id in ids:
        favourites = draw.sample(range(1, SESSIONS + 1), draw.choice((1, 2, 4, 8)))
        kinds = draw.choice((("pull",), ("pull", "push", "shown"), ("push", "shown", "maintenance")))
        looks += [
            (node_id, draw.choice(favourites), draw.choice(kinds), draw.choice((None, None, *OUTCOMES[2:])))
            for _ in range(draw.choice((0, 1, 2, 3, 5, 9)))
        ]
    draw.shuffle(looks)
    conn.executemany(
        "INSERT INTO td_access (node_id, session_id, kind, outcome, at) VALUES (?, ?, ?, ?, ?)",
        [(*look, NOW_MS + draw.randrange(-250 * DAY_MS, DAY_MS)) for look in looks],
    )


def _begin_facts(conn: apsw.Connection, draw: random.Random, ids: list[str]) -> None:
    """A row for each that was pulled, and for some that were moved: from the start, or from some access on."""
    latest = int(str(conn.execute("SELECT coalesce(max(id), 0) FROM td_access").get))
    pulled = {str(row[0]) for row in conn.execute("SELECT DISTINCT node_id FROM td_access WHERE kind = 'pull'")}
    for node_id in ids:
        moved = draw.random() < 0.25
        if node_id in pulled or moved:
            conn.execute(
                "INSERT INTO td_facts (node_id, tier, tier_after, counted_after, moved_at) "
                "SELECT id, tier, ?, ?, ? FROM nodes WHERE id = ?",
                (
                    draw.choice((0, draw.randint(0, latest))), draw.randint(0, latest) if moved else 0,
                    NOW_MS - draw.randrange(-DAY_MS, 150 * DAY_MS) if moved else None, node_id,
                ),
            )  # fmt: skip


def _log_confidences(conn: apsw.Connection, draw: random.Random, node_id: str) -> None:
    """Changes as the family logs them: before, within and after the window of the latest sessions."""
    for _ in range(draw.choice((0, 0, 1, 3))):
        at = NOW_MS + draw.randrange(-280 * DAY_MS, 0)
        conn.execute(
            "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, timestamp) "
            "VALUES (?, ?, ?, 'outcome', ?)",
            (node_id, draw.choice(CONFIDENCES), draw.choice(CONFIDENCES), draw.choice((at, at / 1000))),
        )


def _change_unseen(conn: apsw.Connection, draw: random.Random, node_id: str) -> None:
    """What another program changes and logs nowhere: in a store of ours only the triggers see it."""
    if draw.random() < 0.15:
        conn.execute("UPDATE nodes SET confidence = ? WHERE id = ?", (draw.choice(CONFIDENCES), node_id))
    if draw.random() < 0.15:
        conn.execute("UPDATE nodes SET tier = ? WHERE id = ?", (draw.choice(TIERS), node_id))
    if draw.random() < 0.05:
        columns = "type, content, confidence, created_at, last_accessed"
        # Where foreign keys are on, the row that is replaced takes its log of confidences along.
        conn.execute(
            f"INSERT OR REPLACE INTO nodes (id, tier, {columns}) SELECT id, ?, {columns} FROM nodes "
            "WHERE id = ? AND id NOT IN (SELECT node_id FROM confidence_updates)",
            (draw.choice(TIERS), node_id),
        )
    if draw.random() < 0.02:
        conn.execute("UPDATE nodes SET tier = NULL WHERE id = ?", (node_id,))
    elif draw.random() < 0.02:
        conn.execute("DELETE FROM nodes WHERE id = ?", (node_id,))
    elif draw.random() < 0.02:
        unlogged = "id NOT IN (SELECT node_id FROM confidence_updates)"
        conn.execute(f"UPDATE nodes SET id = id || '-renamed' WHERE id = ? AND {unlogged}", (node_id,))


def _block(conn: apsw.Connection, draw: random.Random, node_id: str) -> None:
    """A hold that stands, ended or was released; a dismissal that stands or lapsed."""
    if draw.random() < 0.2:
        until, released = draw.choice(((None, None), (NOW_MS + 1, None), (NOW_MS, None), (None, NOW_MS - 1)))
        conn.execute(
            "INSERT INTO td_hold (node_id, tier, set_at, until, actor, log_id, released_at) "
            "VALUES (?, 'task', 0, ?, 'somebody', 0, ?)",
            (node_id, until, released),
        )
    if draw.random() < 0.2:
        conn.execute(
            "INSERT INTO td_dismissal (node_id, tier, at, last_pull_id, log_id) "
            "SELECT n.id, ?, ?, max(0, coalesce(f.last_pull_id, 0) - ?), 0 "
            "FROM nodes n LEFT JOIN td_facts f ON f.node_id = n.id WHERE n.id = ?",
            (draw.choice(TIERS), NOW_MS - draw.choice((0, 80)) * DAY_MS, draw.choice((0, 0, 1)), node_id),
        )


MAKERS: dict[str, Callable[[Path], Store]] = {"own": own_store, "adopted": adopted_store}
