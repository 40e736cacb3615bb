"""Everything the detail pane says about one memory, read in one go by a worker thread."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.model import Access, ConfidenceChange, Node, Revision, TierMove
from tierdeck.store import (
    AccessSummary,
    RelatedNode,
    Store,
    access_summary,
    accesses,
    confidence_changes,
    get_node,
    related_nodes,
    revisions,
    tier_moves,
)

# What a pane can show and a person read; the summary counts all of them.
MAX_ACCESSES = 500
MAX_RELATED = 200


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """One memory with its history and its relations, each list in its room's order."""

    node: Node
    summary: AccessSummary
    accesses: tuple[Access, ...]
    related: tuple[RelatedNode, ...]
    moves: tuple[TierMove, ...]
    confidence: tuple[ConfidenceChange, ...]
    revisions: tuple[Revision, ...]


def read_memory_facts(store: Store, node_id: str) -> MemoryFacts:
    """Read them; raises NotFoundError when the memory is gone."""
    return MemoryFacts(
        node=get_node(store, node_id),
        summary=access_summary(store, node_id),
        accesses=tuple(accesses(store, node_id, limit_rows=MAX_ACCESSES)),
        related=tuple(related_nodes(store, node_id, limit_rows=MAX_RELATED)),
        moves=tuple(tier_moves(store, node_id)),
        confidence=tuple(confidence_changes(store, node_id)),
        revisions=tuple(revisions(store, node_id)),
    )
