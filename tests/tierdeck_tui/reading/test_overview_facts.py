"""What the Overview is read from: promotion in numbers, the latest sweep, held memories that were moved."""

from __future__ import annotations

from pathlib import Path

from tests.tierdeck_tui.conftest import keyword_settings
from tierdeck.config import PromotionSettings
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.moves.holds import hold
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.outlook.sweep import apply_sweep
from tierdeck.promote.outlook.sweep_plan import plan_sweep
from tierdeck.promote.rules import Rules
from tierdeck.session import open_session
from tierdeck.store import Store, add_nodes, open_store
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.overview_facts import OverviewFacts, read_facts


def facts(store: Store) -> OverviewFacts:
    return read_facts(Console(store, keyword_settings()))


def test_the_latest_sweep_is_known_under_any_number_of_later_runs(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(8)])
    with open_session(store, "s-1", promotion=PromotionSettings(automatic=False)) as session:
        session.use(ids[0])
        session.use(ids[0])
    before = facts(store)
    assert before.last_sweep is None
    assert before.promotion is not None
    assert before.promotion.candidates["task-session"] == 1
    plan = plan_sweep(store, Rules(), store.now_ms())
    run_id = apply_sweep(store, plan, rules=Rules(), actor="ann", confirmed=True).run_id
    for node_id in ids[1:]:
        override_tier(store, [node_id], Tier.SESSION, actor="ann", reason="kept by hand")
    after = facts(store)
    assert after.last_sweep is not None
    assert (after.last_sweep.id, after.last_sweep.moved) == (run_id, 1)
    assert after.promotion is not None
    assert after.promotion.candidates["task-session"] == 0
    assert run_id not in {run.id for run in after.promotion.last_runs}


def test_a_held_memory_that_another_program_moved_is_counted(store: Store) -> None:
    one, other = add_nodes(store, [NodeDraft("one"), NodeDraft("other")])
    hold(store, [one, other], actor="ann", reason="who to ask")
    assert facts(store).moved_holds == 0
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET tier = 'archive' WHERE id = ?", (one,))
    assert facts(store).moved_holds == 1


def test_a_store_that_was_not_adopted_has_no_promotion(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        found = facts(store)
    assert (found.promotion, found.last_sweep, found.moved_holds) == (None, None, 0)
