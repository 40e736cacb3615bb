"""Everything the detail pane says about one memory, read in one go by a worker thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tierdeck.model import Access, ConfidenceChange, Node, Revision, SessionRow, TierMove
from tierdeck.promote.outlook.why import Explanation, why
from tierdeck.promote.rules import Rules
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
from tierdeck.store.sessions import sessions_in

# What a pane can show and a person read; the summary counts all of them.
MAX_ACCESSES = 500
MAX_RELATED = 200


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """One memory with its history and its relations, each list in its room's order.

    `explanation` is what the rules say of it and our log's rows, None in a store that records no accesses; `roots`
    holds the sessions that those of `accesses` began with, by number.
    """

    node: Node
    summary: AccessSummary
    accesses: tuple[Access, ...]
    related: tuple[RelatedNode, ...]
    moves: tuple[TierMove, ...]
    confidence: tuple[ConfidenceChange, ...]
    revisions: tuple[Revision, ...]
    explanation: Explanation | None = None
    roots: Mapping[int, SessionRow] = field(default_factory=dict)


def read_memory_facts(store: Store, node_id: str, rules: Rules | None = None) -> MemoryFacts:
    """Read them; `rules` None are those of the defaults. Raises NotFoundError when the memory is gone."""
    looks = accesses(store, node_id, limit_rows=MAX_ACCESSES)
    roots = {access.session.root_id for access in looks}
    is_tracked = store.has_table("td_facts")
    return MemoryFacts(
        node=get_node(store, node_id),
        summary=access_summary(store, node_id),
        accesses=tuple(looks),
        related=tuple(related_nodes(store, node_id, limit_rows=MAX_RELATED)),
        moves=tuple(tier_moves(store, node_id)),
        confidence=tuple(confidence_changes(store, node_id)),
        revisions=tuple(revisions(store, node_id)),
        explanation=why(store, node_id, rules or Rules(), store.now_ms()) if is_tracked else None,
        roots=store.read(lambda conn: sessions_in(conn, roots)) if roots else {},
    )
