"""Memories to be looked at, and the moment at which the store's clock stands."""

from __future__ import annotations

from tierdeck.model import NodeDraft, Tier
from tierdeck.store import Store, add_nodes

START_MS = 1_780_000_000_000


def added(store: Store, count: int, tier: Tier = Tier.TASK, *, confidence: float = 0.9) -> list[str]:
    """Add so many, never used; their ids."""
    return add_nodes(store, [NodeDraft(f"memory {n}", tier=tier, confidence=confidence) for n in range(count)])
