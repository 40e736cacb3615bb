"""What a memory's page is read from: the sessions it began with, and what the rules say by the settings."""

from __future__ import annotations

from pathlib import Path

from tests.family import family_id
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.rules import Rules
from tierdeck.session import open_session
from tierdeck.store import Store, add_node, open_store
from tierdeck_tui.reading.memory_facts import read_memory_facts


def test_the_session_that_sent_a_sub_agent_is_known_though_it_never_looked_itself(store: Store) -> None:
    node_id = add_node(store, NodeDraft("asked for by a helper")).id
    with open_session(store, "s-1/a", parent="s-1") as helper:
        helper.open(node_id)
    facts = read_memory_facts(store, node_id)
    [access] = facts.accesses
    assert [root.external_id for root in facts.roots.values()] == ["s-1"]
    assert access.session.root_id in facts.roots


def test_what_the_rules_say_is_by_the_numbers_that_are_given(store: Store) -> None:
    node_id = add_node(store, NodeDraft("pulled twice")).id
    with open_session(store, "s-1") as session:
        session.open(node_id)
        session.use(node_id)
    by_default = read_memory_facts(store, node_id).explanation
    assert by_default is not None
    assert [criterion.needed for criterion in by_default.decision.criteria] == [2]
    other = read_memory_facts(store, node_id, Rules(session_pulls=7)).explanation
    assert other is not None
    assert [criterion.needed for criterion in other.decision.criteria] == [7]


def test_a_hold_and_our_log_s_rows_are_part_of_it(store: Store) -> None:
    node_id = add_node(store, NodeDraft("who to ask")).id
    override_tier(store, [node_id], Tier.LONGTERM, actor="ann", reason="who to ask")
    told = read_memory_facts(store, node_id).explanation
    assert told is not None
    assert told.hold is not None
    assert [(entry.kind, entry.evolution_id) for entry in told.history] == [
        ("override", read_memory_facts(store, node_id).moves[0].id)
    ]


def test_a_store_that_was_not_adopted_has_its_family_s_history_and_no_word_of_the_rules(
    family_store_path: Path,
) -> None:
    with open_store(family_store_path) as store:
        facts = read_memory_facts(store, family_id(3))
    assert facts.explanation is None
    assert facts.roots == {}
    assert facts.moves != ()
