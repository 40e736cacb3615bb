from __future__ import annotations

import pytest

from tests.tierdeck.promote.pulls import pull
from tierdeck.errors import NotFoundError
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.log.entries import entries
from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.holds import dismiss, hold, holds
from tierdeck.promote.moves.override import archive_nodes
from tierdeck.promote.moves.runs import run
from tierdeck.promote.records import LogFilter
from tierdeck.promote.rules import Rules
from tierdeck.store import Store, add_node, add_nodes, get_node

RULES = Rules()


@pytest.mark.spec("SPEC-09.15")
def test_an_approved_candidate_moves_as_the_rule_says_signed_by_the_person(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    pull(store, [node_id], times=2)
    report = approve(store, [node_id, node_id], rules=RULES, actor="mara")
    assert (report.moved, report.refused) == ((node_id,), ())
    assert get_node(store, node_id).tier is Tier.SESSION
    [row] = entries(store, LogFilter())
    assert (row.kind, row.rule, row.actor, row.run_id) == ("approve", "task-session", "mara", report.run_id)
    assert (row.rule_version, [c.passed for c in row.criteria]) == (RULES.version, [True])
    assert read_facts(store, [node_id], store.now_ms())[0].sessions == 1
    assert holds(store, now_ms=store.now_ms()) == []
    assert report.run_id is not None
    found = run(store, report.run_id)
    assert (found.kind, found.planned, found.moved, found.ended_at_ms is None) == ("approve", 1, 1, False)


@pytest.mark.spec("SPEC-09.15")
def test_what_is_held_dismissed_or_lacks_something_is_refused_in_words(store: Store) -> None:
    held, dismissed, fresh, weak = ids = add_nodes(
        store, [NodeDraft(t) for t in "abc"] + [NodeDraft("d", tier=Tier.SESSION)]
    )
    pull(store, [held, dismissed], times=2)
    pull(store, [weak], outcome="failure")
    hold(store, [held], actor="ben", reason="mine")
    dismiss(store, [dismissed], actor="ben", rules=RULES)
    report = approve(store, ids, rules=RULES, actor="mara")
    assert (report.run_id, report.moved) == (None, ())
    assert {refused.node_id: refused.why for refused in report.refused} == {
        held: "it is held by ben: mine",
        dismissed: "it was dismissed as a candidate",
        fresh: "it is no candidate: pulls in one session 0, needed >= 2",
        weak: "it is no candidate: sessions 1, needed >= 3; successes 0, needed >= 1; failures 1, needed <= 0; "
        "confidence held 0.5, needed >= 0.8",
    }


@pytest.mark.spec("SPEC-09.15")
def test_an_archived_memory_pulled_again_comes_back_only_by_approval(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    archive_nodes(store, [node_id], actor="mara")
    assert approve(store, [node_id], rules=RULES, actor="mara").moved == ()
    pull(store, [node_id])
    assert get_node(store, node_id).tier is Tier.ARCHIVE
    assert approve(store, [node_id], rules=RULES, actor="mara").moved == (node_id,)
    assert get_node(store, node_id).tier is Tier.LONGTERM


def test_an_unknown_id_is_named_and_nothing_is_approved(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    pull(store, [node_id], times=2)
    with pytest.raises(NotFoundError, match="nobody"):
        approve(store, [node_id, "nobody"], rules=RULES, actor="mara")
    assert get_node(store, node_id).tier is Tier.TASK
