"""What the Promotions screen's pane says of one row, read in one go by a worker thread."""

from __future__ import annotations

from dataclasses import dataclass

from tierdeck.errors import NotFoundError
from tierdeck.model import Access, NodeRow, TierMove
from tierdeck.promote.outlook.why import Explanation, why
from tierdeck.store import accesses, tier_moves
from tierdeck.store.rows import read_rows
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.promotion_facts import configured_rules

MAX_ACCESSES = 200


@dataclass(frozen=True, slots=True)
class PromotionSubject:
    """A memory as it is now: its head, what the rules say of it and why, its latest accesses.

    `moves` are the family's log, oldest first.
    """

    row: NodeRow
    explanation: Explanation
    accesses: tuple[Access, ...]
    moves: tuple[TierMove, ...]


def read_promotion_subject(deck: Console, node_id: str) -> PromotionSubject | None:
    """Read it; None when there is no such memory (any more)."""
    store = deck.store
    row = store.read(lambda conn: read_rows(conn, [node_id])).get(node_id)
    if row is None:
        return None
    try:
        explanation = why(store, node_id, configured_rules(deck), store.now_ms())
    except NotFoundError:  # it went between the two looks
        return None
    looks = tuple(accesses(store, node_id, limit_rows=MAX_ACCESSES))
    return PromotionSubject(row, explanation, looks, tuple(tier_moves(store, node_id)))
