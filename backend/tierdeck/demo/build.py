"""The demo store: every screen has something true to show, without network, key or download.

It is made the way an agent would have made it: each change at its own time and in order, so that the logs, the
revisions and what stands in a memory fit together, and an undo in the demo works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from tierdeck import db
from tierdeck.demo.material import DemoMemory, DemoSession, read_memories, read_sessions
from tierdeck.demo.story import at_ms, demo_id, tell
from tierdeck.errors import InvalidValueError
from tierdeck.model import EdgeType
from tierdeck.store import StoreCounts, counts, open_store
from tierdeck.times import now_ms as clock_ms


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """What the demo store holds."""

    path: Path
    counts: StoreCounts
    sessions: int
    accesses: int
    revisions: int


def build_demo(path: Path, *, now_ms: int | None = None) -> DemoSummary:
    """Make the demo store at a place where nothing is yet (0600), in one transaction (0.15 s).

    Ids are the same each time; times are counted back from `now_ms`, so stores made for the same moment are equal.

    Args:
        path: a file that does not exist; its folder is made.
        now_ms: the moment it is made for; None is now.

    Raises:
        InvalidValueError: something is at the path; it stays as it was.
        StoreError: it can't be written; what was begun is removed.
    """
    if path.exists() or path.is_symlink():
        raise InvalidValueError(f"make demo store {path}: it exists", hint="name a file that does not exist yet")
    try:
        return _build(path, clock_ms() if now_ms is None else now_ms)
    except BaseException:
        for end in ("", *db.LOG_SUFFIXES):
            Path(f"{path}{end}").unlink(missing_ok=True)
        raise


def _build(path: Path, now: int) -> DemoSummary:
    sessions, memories = read_sessions(), read_memories()
    with open_store(path, create=True) as store:
        with store.writing() as conn:
            numbers = _write_sessions(conn, sessions, now)
            tell(store, conn, memories, now)
            _write_relations(conn, memories)
            accesses = _write_accesses(conn, memories, numbers, now)
        revisions = int(store.read(lambda c: c.execute("SELECT count(*) FROM td_revision").get))
        return DemoSummary(path, counts(store), len(sessions), accesses, revisions)


def _write_sessions(conn: apsw.Connection, sessions: Sequence[DemoSession], now: int) -> dict[str, int]:
    numbers = {session.key: number for number, session in enumerate(sessions, 1)}
    for session in sessions:
        begun = at_ms(session.day, now)
        conn.execute(
            "INSERT INTO td_session (id, external_id, run, root_id, parent_id, project, agent, started_at, "
            "ended_at, outcome) VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?)",
            (
                numbers[session.key],
                session.key,
                numbers[session.parent or session.key],
                numbers.get(session.parent or ""),
                session.project,
                session.agent,
                begun,
                # Without an outcome it has not ended yet.
                begun + round(session.hours * 3_600_000) if session.outcome else None,
                session.outcome,
            ),
        )
    return numbers


def _write_relations(conn: apsw.Connection, memories: Sequence[DemoMemory]) -> None:
    for memory in memories:
        for number, relation in enumerate(memory.relations):
            edge_id = demo_id(f"{memory.key} {number} {relation.to}")
            roles = ("cause", "effect") if relation.type == EdgeType.CAUSATION else ("subject", "object")
            conn.execute(
                "INSERT INTO hyperedges (id, type, label, weight) VALUES (?, ?, ?, ?)",
                (edge_id, relation.type, relation.label, relation.weight),
            )
            conn.executemany(
                "INSERT INTO membership (hyperedge_id, node_id, role, position) VALUES (?, ?, ?, ?)",
                [(edge_id, demo_id(memory.key), roles[0], 0), (edge_id, demo_id(relation.to), roles[1], 1)],
            )


def _write_accesses(
    conn: apsw.Connection, memories: Sequence[DemoMemory], numbers: Mapping[str, int], now: int
) -> int:
    rows = sorted(
        (at_ms(access.day, now), demo_id(memory.key), numbers[access.session], access.kind, access.outcome or "")
        for memory in memories
        for access in memory.accesses
    )
    conn.executemany(
        "INSERT INTO td_access (at, node_id, session_id, kind, outcome) VALUES (?, ?, ?, ?, nullif(?, ''))", rows
    )
    return len(rows)
