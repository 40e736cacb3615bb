"""Pulls by an agent, recorded as its process does, without any rule running by itself."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.config import PromotionSettings
from tierdeck.model import AccessKind, Outcome
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.store import Store

BY_HAND = PromotionSettings(automatic=False)


def pull(
    store: Store, ids: Sequence[str], session: str = "s1", *, times: int = 1, outcome: Outcome | None = None
) -> None:
    """Pull each memory so many times in a session."""
    met = meet_session(store, session)
    for _ in range(times):
        record_accesses(store, met.id, ids, AccessKind.PULL, outcome=outcome, settings=BY_HAND)
