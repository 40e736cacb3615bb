"""A large store with years of use in it, made quickly: rows go in without triggers and indexes, which come after.

A fifth of the accesses are pulls, which fall on few memories more often than on most, some of them again within the
session; a fifth of the sessions are roots. Half of the memories were never pulled. The full-text index stays empty:
nothing that is measured touches it.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from pathlib import Path
from uuid import UUID

import apsw
import numpy as np
from numpy.typing import NDArray

from tierdeck.promote.evidence.counts import recount
from tierdeck.promote.rules import DAY_MS
from tierdeck.store import open_store

NOW_MS = 1_780_000_000_000
TRACKED_DAYS = 300
KINDS = ("pull", "push", "shown", "maintenance")
_BLOCK = 100_000


def make_store(path: Path, nodes: int, accesses: int) -> None:
    """Build the store, complete or not at all: it gets its name when it is done."""
    part = path.with_suffix(".part")
    for leftover in path.parent.glob(f"{part.name}*"):
        leftover.unlink()
    open_store(part, create=True, clock=lambda: NOW_MS - TRACKED_DAYS * DAY_MS).close()
    began = time.perf_counter()
    rng = np.random.default_rng(3)
    with closing(apsw.Connection(str(part))) as conn:
        for pragma in ("journal_mode=off", "synchronous=off", "cache_size=-400000", "temp_store=memory"):
            conn.execute(f"PRAGMA {pragma}").fetchall()
        later = _take_off(conn)
        looks = _Looks(rng, nodes, accesses)
        ids = [node_id(number) for number in range(nodes)]
        with conn:
            _add_sessions(conn, rng, looks.sessions)
            _add_accesses(conn, looks, ids)
            _add_nodes(conn, rng, looks, ids)
            _say(began, "rows")
        for sql in later:
            conn.execute(sql)
        _say(began, "rows, indexes")
        with conn:
            recount(conn, logs_confidence=True)
        _say(began, "rows, indexes, counts")
        conn.execute("PRAGMA journal_mode=wal").fetchall()
    os.replace(part, path)


class _Looks:
    """Columns of td_access, in the order of time."""

    def __init__(self, rng: np.random.Generator, nodes: int, accesses: int) -> None:
        self.sessions = max(20, accesses // 1_000)
        session = rng.integers(1, self.sessions + 1, accesses)
        node = (rng.random(accesses) ** 3 * nodes).astype(np.int64)
        kind = rng.choice(4, accesses, p=(0.2, 0.65, 0.12, 0.03))
        # Every third look is at what the one before looked at, in the same session.
        again = np.flatnonzero(rng.random(accesses - 1) < 0.33) + 1
        node[again], session[again], kind[again] = node[again - 1], session[again - 1], kind[again - 1]
        starts = NOW_MS - rng.integers(0, TRACKED_DAYS * DAY_MS, self.sessions + 1)
        at = starts[session] + rng.integers(0, DAY_MS // 6, accesses)
        order = np.argsort(at)
        self.node, self.session, self.kind, self.at = (part[order] for part in (node, session, kind, at))
        self.outcome = rng.choice(3, accesses, p=(0.9, 0.08, 0.02))


def node_id(number: int) -> str:
    """The id of a memory by its number; as scattered as drawn ones."""
    return str(UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835 + 1) % 2**128))


def _take_off(conn: apsw.Connection) -> list[str]:
    """Drop the triggers on nodes and the indexes that can be made at the end; the SQL that brings them back."""
    tables = "('nodes', 'td_access', 'td_facts', 'td_session')"
    objects = conn.execute(
        f"SELECT type, name, sql FROM sqlite_master WHERE tbl_name IN {tables} "
        "AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type"
    ).fetchall()
    for kind, name, _ in objects:
        conn.execute(f"DROP {kind} {name}")
    return [str(sql) for _, _, sql in objects]


def _add_sessions(conn: apsw.Connection, rng: np.random.Generator, sessions: int) -> None:
    """Every fifth is a root; the others are agents of the root before them."""
    outcomes = rng.choice(3, sessions + 1, p=(0.25, 0.6, 0.15)).tolist()
    rows = []
    for number in range(1, sessions + 1):
        root = number - (number - 1) % 5
        parent = None if root == number else root
        rows.append(
            (number, f"session {number}", root, parent, NOW_MS, (None, "success", "failure")[outcomes[number]])
        )
    conn.executemany(
        "INSERT INTO td_session (id, external_id, root_id, parent_id, started_at, outcome) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        rows,
    )


def _add_accesses(conn: apsw.Connection, looks: _Looks, ids: list[str]) -> None:
    outcomes = (None, "success", "failure")
    for start in range(0, len(looks.at), _BLOCK):
        block = slice(start, start + _BLOCK)
        columns = (looks.node, looks.session, looks.kind, looks.outcome, looks.at)
        conn.executemany(
            "INSERT INTO td_access (node_id, session_id, kind, outcome, at) VALUES (?, ?, ?, ?, ?)",
            (
                (ids[node], session, KINDS[kind], outcomes[outcome], at)
                for node, session, kind, outcome, at in zip(*(c[block].tolist() for c in columns), strict=True)
            ),
        )


def _add_nodes(conn: apsw.Connection, rng: np.random.Generator, looks: _Looks, ids: list[str]) -> None:
    nodes = len(ids)
    tiers = ("task", "session", "longterm", "archive")
    tier = rng.choice(4, nodes, p=(0.5, 0.25, 0.2, 0.05)).tolist()
    created = NOW_MS - rng.integers(0, TRACKED_DAYS * DAY_MS, nodes)
    used: NDArray[np.int64] = created.copy()
    is_pull = looks.kind == 0
    np.maximum.at(used, looks.node[is_pull], looks.at[is_pull])
    confidence = np.round(rng.beta(6, 2, nodes), 2).tolist()
    text = "what the deploy of the billing service needs before it goes out, and whom to ask about it, number "
    conn.executemany(
        "INSERT INTO nodes (id, type, content, tier, confidence, created_at, updated_at, last_accessed) "
        "VALUES (?, 'fact', ?, ?, ?, ?, ?, ?)",
        (
            (ids[n], f"{text}{n}", tiers[tier[n]], confidence[n], at, at, last)
            for n, (at, last) in enumerate(zip(created.tolist(), used.tolist(), strict=True))
        ),
    )
    changed = rng.integers(0, nodes, nodes // 4).tolist()
    days = rng.integers(0, TRACKED_DAYS, nodes // 4).tolist()
    conn.executemany(
        "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, timestamp) "
        "VALUES (?, 0.7, ?, 'outcome', ?)",
        ((ids[n], confidence[n], NOW_MS - day * DAY_MS) for n, day in zip(changed, days, strict=True)),
    )


def _say(began: float, what: str) -> None:
    print(f"  {what}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    make_store(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
