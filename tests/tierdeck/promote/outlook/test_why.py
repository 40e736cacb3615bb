from __future__ import annotations

import pytest

from tests.tierdeck.promote.pulls import pull
from tierdeck.errors import NotFoundError
from tierdeck.model import AccessKind, NodeDraft, Tier
from tierdeck.promote import (
    apply_sweep,
    candidates,
    count_candidates,
    count_near,
    hold,
    holds,
    meet_session,
    near,
    override_tier,
    plan_sweep,
    preview_override,
    record_accesses,
    what_if,
    why,
)
from tierdeck.promote.rules import Rules
from tierdeck.store import Store, add_node

RULES = Rules()


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12", "SPEC-09.15")
def test_an_explanation_has_found_and_needed_the_hold_and_the_history_newest_first(store: Store) -> None:
    node = add_node(store, NodeDraft("m", confidence=0.9)).id
    override_tier(store, [node], Tier.SESSION, actor="mara", reason="kept on purpose", hold=False)
    pull(store, [node], "s1", outcome="success")
    pull(store, [node], "s2")
    record_accesses(store, meet_session(store, "s3").id, [node], AccessKind.PUSH)
    hold(store, [node], actor="mara", reason="not yet")
    found = why(store, node, RULES, store.now_ms())
    assert {c.name: (c.found, c.needed, c.passed) for c in found.decision.criteria} == {
        "sessions": (2, 3, False),
        "successes": (1, 1, True),
        "failures": (0, 1, True),
        "confidence held": (0.9, 0.8, True),
    }
    assert [(c.name, c.lacks) for c in found.decision.lacking] == [("sessions", 1)]
    assert (found.decision.block, found.hold.reason if found.hold else None) == ("held", "not yet")
    assert [entry.kind for entry in found.history] == ["hold", "override"]
    assert (found.accesses.pulls, found.accesses.pushes, found.accesses.roots) == (2, 1, 2)


def test_rules_and_moment_are_the_built_in_numbers_and_the_stores_clock_unless_given(store: Store) -> None:
    node = add_node(store, NodeDraft("m", confidence=0.9)).id
    pull(store, [node], "s1")
    pull(store, [node], "s1")
    now = store.now_ms()
    assert why(store, node) == why(store, node, RULES, now)
    assert candidates(store) == candidates(store, RULES, now)
    assert near(store) == near(store, RULES, now)
    assert (count_candidates(store), count_near(store)) == (
        count_candidates(store, RULES, now),
        count_near(store, RULES, now),
    )
    assert plan_sweep(store) == plan_sweep(store, RULES, now)
    assert what_if(store, RULES, Rules(session_pulls=3)) == what_if(store, RULES, Rules(session_pulls=3), now)
    assert preview_override(store, [node], Tier.LONGTERM).moves[0].decision == why(store, node).decision
    report = apply_sweep(store, plan_sweep(store), actor="mara", confirmed=True)
    assert (report.moved, holds(store)) == ((node,), [])


def test_a_memory_that_is_not_there_is_named(store: Store) -> None:
    with pytest.raises(NotFoundError, match="explain memory nowhere"):
        why(store, "nowhere", RULES, 0)
