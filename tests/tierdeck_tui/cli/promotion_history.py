"""A small store with a past: what each memory is, 200 days ago and since, for the verbs of promotion."""

from __future__ import annotations

from pathlib import Path

from tierdeck.config import PromotionSettings
from tierdeck.model import AccessKind, NodeDraft, NodeType, Outcome, Tier
from tierdeck.promote.agents.access import end_session, record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.rules import DAY_MS
from tierdeck.store import Store, add_nodes, open_store
from tierdeck.times import now_ms

DUE = "aaaa1111-0000-4000-8000-000000000001"  # task, pulled twice in one session
NEAR = "bbbb2222-0000-4000-8000-000000000002"  # task, pulled once
KNOWN = "cccc3333-0000-4000-8000-000000000003"  # session, pulled in two sessions with success
STALE = "dddd4444-0000-4000-8000-000000000004"  # longterm, unused for 200 days
BACK = "eeee5555-0000-4000-8000-000000000005"  # archived, and pulled since
MANUAL = PromotionSettings(automatic=False)
_DRAFTS = (
    (DUE, Tier.TASK, "deploys use blue green switching"),
    (NEAR, Tier.TASK, "the deploy key is rotated each spring"),
    (KNOWN, Tier.SESSION, "redis holds the sessions"),
    (STALE, Tier.LONGTERM, "the old staging host is called ox"),
    (BACK, Tier.ARCHIVE, "user dislikes `rm -rf`"),
)


def make_history(db: Path) -> None:
    """Five memories made 200 days ago, and what two sessions did with them in the last days."""
    now = now_ms()
    clock = [now - 200 * DAY_MS]
    with open_store(db, create=True, clock=lambda: clock[0]) as store:
        add_nodes(
            store,
            [
                NodeDraft(text, type=NodeType.FACT, tier=tier, confidence=0.9, id=node_id)
                for node_id, tier, text in _DRAFTS
            ],
        )
        clock[0] = now - 2 * DAY_MS
        visit(store, "s-1", [DUE, DUE, KNOWN], "success")
        clock[0] = now - DAY_MS
        visit(store, "s-2", [NEAR, KNOWN, BACK], "success", pushed=[NEAR, STALE], parent="root")


def visit(
    store: Store,
    external_id: str,
    pulled: list[str],
    outcome: Outcome | None,
    *,
    pushed: list[str] | None = None,
    parent: str | None = None,
) -> None:
    """One session with its looks; no rule runs."""
    session = meet_session(store, external_id, project="shop", agent="coder", parent=parent)
    for node_id in pulled:
        record_accesses(store, session.id, [node_id], AccessKind.PULL, settings=MANUAL)
    if pushed:
        record_accesses(store, session.id, pushed, AccessKind.PUSH, settings=MANUAL)
    end_session(store, session.id, outcome=outcome, settings=MANUAL)
