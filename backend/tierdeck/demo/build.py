"""The demo store: every screen has something true to show, without network, key or download.

It is made the way agents and an operator would have made it: each change at its own time and in order, so that the
logs, the counts, the revisions and what stands in a memory fit together, and an undo in the demo works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tierdeck import db
from tierdeck.demo.demo_id import demo_id
from tierdeck.demo.event import at_ms
from tierdeck.demo.material import DemoMemory, read_memories, read_sessions
from tierdeck.demo.story import tell
from tierdeck.errors import InvalidValueError
from tierdeck.model import EdgeType, Member
from tierdeck.promote.log.entries import count_entries
from tierdeck.promote.outlook.candidates import count_candidates
from tierdeck.promote.records import LogFilter
from tierdeck.promote.rules import Rules
from tierdeck.store import Store, StoreCounts, counts, open_store, relate
from tierdeck.times import now_ms as clock_ms

# Long enough that what was not used since then is stale.
_TRACKED_SINCE_DAY = -160.0


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """What the demo store holds; `waiting` are the candidates for a move, `log_rows` those of the promotion log."""

    path: Path
    counts: StoreCounts
    sessions: int
    accesses: int
    revisions: int
    log_rows: int
    waiting: int


def build_demo(path: Path, *, now_ms: int | None = None) -> DemoSummary:
    """Make the demo store at a place where nothing is yet (0600), in half a second.

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
    with open_store(path, create=True, clock=partial(at_ms, _TRACKED_SINCE_DAY, now)) as store:
        tell(store, sessions, memories, now)
        _write_relations(store, memories)
        store.clock = partial(int, now)
        return DemoSummary(
            path,
            counts(store),
            sessions=len(sessions),
            accesses=sum(len(memory.accesses) for memory in memories),
            revisions=int(store.read(lambda conn: conn.execute("SELECT count(*) FROM td_revision").get)),
            log_rows=count_entries(store, LogFilter()),
            waiting=sum(count_candidates(store, Rules(), now).values()),
        )


def _write_relations(store: Store, memories: Sequence[DemoMemory]) -> None:
    with store.writing():
        for memory in memories:
            for number, relation in enumerate(memory.relations):
                kind = EdgeType(relation.type)
                roles = ("cause", "effect") if kind is EdgeType.CAUSATION else ("subject", "object")
                ids = (demo_id(memory.key), demo_id(relation.to))
                relate(
                    store,
                    kind,
                    [Member(node_id, role, at) for at, (node_id, role) in enumerate(zip(ids, roles, strict=True))],
                    label=relation.label,
                    weight=relation.weight,
                    edge_id=demo_id(f"{memory.key} {number} {relation.to}"),
                )
