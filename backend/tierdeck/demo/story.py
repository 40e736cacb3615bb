"""What happened to the demo's memories, each thing at its own time and in its order.

Memories are added, edited, moved and looked at by the same functions that agents and operators use, so that each
change has its revision, each move its row of the log, and the counts that the rules read follow from the accesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from tierdeck.demo.agents import agent_events
from tierdeck.demo.demo_id import demo_id
from tierdeck.demo.event import Event, at_ms
from tierdeck.demo.hand import EDITS, OPERATOR, hand_events
from tierdeck.demo.material import DemoConfidence, DemoMemory, DemoSession
from tierdeck.model import NodeChanges, NodeDraft, NodeType, Tier
from tierdeck.store import Store, add_nodes, edit_node

_WRITE, _LEARN = 0, 1


def tell(store: Store, sessions: Sequence[DemoSession], memories: Sequence[DemoMemory], now: int) -> None:
    """Write the memories and let everything that happened to them happen, in as few transactions as can be."""
    events = [*agent_events(store, sessions, memories, now), *hand_events(store, memories, now)]
    events += _memory_events(store, memories, now)
    events.sort(key=lambda event: (event.at_ms, event.order))
    for reads_back, group in groupby(events, key=lambda event: event.reads_back):
        if reads_back:
            _play(store, group)
        else:
            with store.writing():
                _play(store, group)


def _play(store: Store, events: Iterator[Event]) -> None:
    for event in events:
        store.clock = partial(int, event.at_ms)
        event.happen()


def _memory_events(store: Store, memories: Sequence[DemoMemory], now: int) -> Iterator[Event]:
    for memory in memories:
        yield Event(at_ms(memory.day, now), _WRITE, partial(_insert, store, memory, now))
        for step in memory.confidence_steps:
            yield Event(at_ms(step.day, now), _LEARN, partial(_step, store, demo_id(memory.key), step))


def _insert(store: Store, memory: DemoMemory, now: int) -> None:
    """Write a memory as it first was; what happened later is played."""
    content = memory.content
    for edit in EDITS:
        if edit.key == memory.key:
            content = content.replace(edit.right, edit.wrong)
    draft = NodeDraft(
        id=demo_id(memory.key),
        type=NodeType(memory.type),
        subtype=memory.subtype,
        content=content,
        tier=Tier.TASK,
        confidence=memory.confidence_steps[0].old if memory.confidence_steps else memory.confidence,
        provenance=memory.provenance,
        created_at_ms=at_ms(memory.day, now),
        metadata={"session_id": memory.session, "project": memory.project, "tags": list(memory.tags)},
        compute_embedding=memory.embed,
    )
    add_nodes(store, [draft])


def _step(store: Store, node_id: str, step: DemoConfidence) -> None:
    if step.trigger == "manual":
        edit_node(
            store, node_id, NodeChanges(confidence=step.new), actor=OPERATOR, reason=f"seen in {step.session}"
        )
        return
    with store.writing() as conn:
        conn.execute(
            "UPDATE nodes SET confidence = ?, updated_at = ? WHERE id = ?", (step.new, store.now_ms(), node_id)
        )
        conn.execute(
            "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, trigger_id, "
            "timestamp) VALUES (?, ?, ?, ?, ?, ?)",
            (node_id, step.old, step.new, step.trigger, step.session, store.now_ms()),
        )
