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
from tierdeck.model import EdgeType, Member
from tierdeck.store import Store, StoreCounts, add_session, counts, open_store, relate
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
        hint = f"`tierdeck --db {path}` opens it; or choose another folder"
        raise InvalidValueError(f"make demo store {path}: it exists", hint=hint)
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
            numbers = _write_sessions(store, sessions, now)
            tell(store, conn, memories, now)
            _write_relations(store, memories)
            accesses = _write_accesses(conn, memories, numbers, now)
        revisions = int(store.read(lambda c: c.execute("SELECT count(*) FROM td_revision").get))
        return DemoSummary(path, counts(store), len(sessions), accesses, revisions)


def _write_sessions(store: Store, sessions: Sequence[DemoSession], now: int) -> dict[str, int]:
    """Each session's number in the store, by its key."""
    numbers: dict[str, int] = {}
    for session in sessions:  # parents come first
        begun = at_ms(session.day, now)
        written = add_session(
            store,
            session.key,
            parent_id=numbers[session.parent] if session.parent else None,
            project=session.project,
            agent=session.agent,
            started_at_ms=begun,
            # Without an outcome it has not ended yet.
            ended_at_ms=begun + round(session.hours * 3_600_000) if session.outcome else None,
            outcome=session.outcome,
        )
        numbers[session.key] = written.id
    return numbers


def _write_relations(store: Store, memories: Sequence[DemoMemory]) -> None:
    for memory in memories:
        for number, relation in enumerate(memory.relations):
            kind = EdgeType(relation.type)
            roles = ("cause", "effect") if kind is EdgeType.CAUSATION else ("subject", "object")
            ids = (demo_id(memory.key), demo_id(relation.to))
            members = [Member(node_id, role, at) for at, (node_id, role) in enumerate(zip(ids, roles, strict=True))]
            relate(
                store,
                kind,
                members,
                label=relation.label,
                weight=relation.weight,
                edge_id=demo_id(f"{memory.key} {number} {relation.to}"),
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
