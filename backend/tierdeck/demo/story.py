"""What happened to the demo's memories, each thing at its own time and in its order.

Memories are added, edited, archived and undone by the same functions that an operator's are, so that each change
has its revision; the rest is what an agent's own program writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from uuid import UUID

import apsw

from tierdeck.demo.material import DemoConfidence, DemoMemory, DemoMove
from tierdeck.model import AccessKind, NodeChanges, NodeDraft, NodeType, Tier
from tierdeck.store import Store, add_nodes, archive_nodes, edit_node, undo
from tierdeck.store.revision_log import record_move

OPERATOR = "mira"
_DAY_MS = 86_400_000
Event = tuple[int, Callable[[], object]]


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edit by hand: till `day` the memory said `wrong` where it now says `right`."""

    key: str
    day: float
    wrong: str
    right: str
    reason: str


_EDITS = (
    _Edit("m-002", -52.60, "Okonkwo, lead of harbor", "Okonkwo, tech lead of harbor", "the team has two leads"),
    _Edit("m-024", -61.20, "on Friday afternoons", "on Fridays", "asked again: the whole day"),
    _Edit("m-041", -58.40, "sorted keys, no spaces.", "sorted keys, no spaces, NFC strings.", "NFC was missing"),
)
# A confidence lowered by hand and taken back: (key, day, confidence, reason).
_UNDONE = ("m-003", -30.20, 0.55, "is she still in charge?")


def tell(store: Store, conn: apsw.Connection, memories: Sequence[DemoMemory], now: int) -> None:
    """Write the memories and let everything that happened to them happen, inside the caller's transaction."""
    for when, happen in sorted(_events(store, conn, memories, now), key=lambda event: event[0]):
        store.clock = partial(int, when)
        happen()


def demo_id(key: str) -> str:
    """The id of a demo memory by its key: looks like a UUID4, and is the same each time."""
    return str(UUID(bytes=blake2b(key.encode(), digest_size=16).digest(), version=4))


def at_ms(day: float, now: int) -> int:
    """A moment of the data, in days from now, as milliseconds since the epoch."""
    return now + round(day * _DAY_MS)


def _events(store: Store, conn: apsw.Connection, memories: Sequence[DemoMemory], now: int) -> Iterator[Event]:
    for memory in memories:
        node_id = demo_id(memory.key)
        yield at_ms(memory.day, now), partial(_insert, store, memory, now)
        for step in memory.confidence_steps:
            yield at_ms(step.day, now), partial(_step, store, conn, node_id, step)
        for move in memory.moves:
            yield at_ms(move.day, now), partial(_move, store, conn, node_id, move)
        for edit in _EDITS:
            if edit.key == memory.key:
                changes = NodeChanges(memory.content)
                yield at_ms(edit.day, now), partial(_change, store, node_id, changes, edit.reason)
    key, day, confidence, reason = _UNDONE
    yield at_ms(day, now), partial(_change, store, demo_id(key), NodeChanges(confidence=confidence), reason)
    yield at_ms(day + 0.1, now), partial(undo, store, demo_id(key), actor=OPERATOR)


def _insert(store: Store, memory: DemoMemory, now: int) -> None:
    """Write a memory as it first was; what happened later is played."""
    content = memory.content
    for edit in _EDITS:
        if edit.key == memory.key:
            content = content.replace(edit.right, edit.wrong)
    pulls = [at_ms(access.day, now) for access in memory.accesses if access.kind == AccessKind.PULL]
    made = at_ms(memory.day, now)
    draft = NodeDraft(
        id=demo_id(memory.key),
        type=NodeType(memory.type),
        subtype=memory.subtype,
        content=content,
        tier=Tier(memory.moves[0].old if memory.moves else memory.tier),
        confidence=memory.confidence_steps[0].old if memory.confidence_steps else memory.confidence,
        provenance=memory.provenance,
        created_at_ms=made,
        last_accessed_ms=max([made, *pulls]),
        access_count=len(pulls),
        metadata={"session_id": memory.session, "project": memory.project, "tags": list(memory.tags)},
        compute_embedding=memory.embed,
    )
    add_nodes(store, [draft])


def _step(store: Store, conn: apsw.Connection, node_id: str, step: DemoConfidence) -> None:
    if step.trigger == "manual":
        edit_node(
            store, node_id, NodeChanges(confidence=step.new), actor=OPERATOR, reason=f"seen in {step.session}"
        )
        return
    conn.execute(
        "UPDATE nodes SET confidence = ?, updated_at = ? WHERE id = ?", (step.new, store.now_ms(), node_id)
    )
    conn.execute(
        "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, trigger_id, "
        "timestamp) VALUES (?, ?, ?, ?, ?, ?)",
        (node_id, step.old, step.new, step.trigger, step.session, store.now_ms()),
    )


def _move(store: Store, conn: apsw.Connection, node_id: str, move: DemoMove) -> None:
    if move.new == Tier.ARCHIVE:
        archive_nodes(store, [node_id], actor=OPERATOR, reason=move.reason)
        return
    conn.execute("UPDATE nodes SET tier = ? WHERE id = ?", (move.new, node_id))
    record_move(conn, node_id, move.old, move.new, at_ms=store.now_ms(), reasoning=move.reason)


def _change(store: Store, node_id: str, changes: NodeChanges, reason: str) -> None:
    edit_node(store, node_id, changes, actor=OPERATOR, reason=reason)
