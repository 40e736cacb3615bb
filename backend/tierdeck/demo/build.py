"""The demo store and its checkpoints: every screen has something true to show, without network, key or download.

It is made the way agents and an operator would have made it: each change at its own time and in order, so that the
logs, the counts, the revisions and what stands in a memory fit together, and an undo in the demo works.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tierdeck import db
from tierdeck.checkpoint.folder import Listed, SessionFolder, list_sessions
from tierdeck.demo.demo_id import demo_id
from tierdeck.demo.event import at_ms
from tierdeck.demo.material import DemoMemory, read_memories, read_sessions
from tierdeck.demo.saved_sessions import save_sessions
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
class DemoCheckpoints:
    """What was saved: `unfinished` are the calls that HEAD's checkpoints have open, `lost` the values they lack."""

    root: Path
    sessions: int
    files: int
    damaged: int
    newer: int
    unfinished: int
    lost: int


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
    checkpoints: DemoCheckpoints


def checkpoints_beside(path: Path) -> Path:
    """Where the checkpoints of the demo store at this path lie."""
    return path.with_name(f"{path.stem}-checkpoints")


def build_demo(path: Path, *, now_ms: int | None = None) -> DemoSummary:
    """Make the demo store at a place where nothing is yet (0600), and its checkpoints beside it, within a second.

    Ids of memories are the same each time; times are counted back from `now_ms`, so stores made for the same moment
    are equal. Ids of checkpoints and the names of branches are drawn anew.

    Args:
        path: a file that does not exist; its folder is made. Checkpoints of `demo.db` go to `demo-checkpoints`.
        now_ms: the moment it is made for; None is now.

    Raises:
        InvalidValueError: something is at one of the paths; it stays as it was.
        StoreError, CheckpointError: it can't be written; what was begun is removed.
    """
    root = checkpoints_beside(path)
    for made, hint in ((path, f"`tierdeck --db {path}` opens it; or choose another folder"), (root, None)):
        if made.exists() or made.is_symlink():
            raise InvalidValueError(f"make demo store {made}: it exists", hint=hint or "choose another folder")
    try:
        return _build(path, root, clock_ms() if now_ms is None else now_ms)
    except BaseException:
        for end in ("", *db.LOG_SUFFIXES):
            Path(f"{path}{end}").unlink(missing_ok=True)
        shutil.rmtree(root, ignore_errors=True)
        raise


def _build(path: Path, root: Path, now: int) -> DemoSummary:
    sessions, memories = read_sessions(), read_memories()
    with open_store(path, create=True, clock=partial(at_ms, _TRACKED_SINCE_DAY, now)) as store:
        tell(store, sessions, memories, now)
        _write_relations(store, memories)
        save_sessions(root, now)
        store.clock = partial(int, now)
        return DemoSummary(
            path,
            counts(store),
            sessions=len(sessions),
            accesses=sum(len(memory.accesses) for memory in memories),
            revisions=int(store.read(lambda conn: conn.execute("SELECT count(*) FROM td_revision").get)),
            log_rows=count_entries(store, LogFilter()),
            waiting=sum(count_candidates(store, Rules(), now).values()),
            checkpoints=_count_checkpoints(root),
        )


def _count_checkpoints(root: Path) -> DemoCheckpoints:
    infos = list_sessions(root)
    listed = [each for info in infos for each in SessionFolder(info.path, info.session_id).listed()]
    heads = [each.summary for each in listed if each.is_head and each.summary is not None]
    return DemoCheckpoints(
        root,
        sessions=len(infos),
        files=len(listed),
        damaged=_in_state(listed, "damaged"),
        newer=_in_state(listed, "newer"),
        unfinished=sum(head.pending.get("pending", 0) + head.pending.get("running", 0) for head in heads),
        lost=sum(head.lost for head in heads),
    )


def _in_state(listed: Sequence[Listed], state: str) -> int:
    return sum(each.state == state for each in listed)


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
