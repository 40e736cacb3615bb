"""The values that every room shares."""

from __future__ import annotations

import dataclasses

import pytest

from tierdeck import model
from tierdeck.model import EdgeType, Node, NodeDraft, NodeFilter, NodeRow, NodeType, Tier, content_hash


@pytest.mark.spec("SPEC-02.05")
def test_a_memory_is_of_one_of_five_types() -> None:
    assert [str(kind) for kind in NodeType] == ["entity", "fact", "experience", "decision", "snippet"]


@pytest.mark.spec("SPEC-02.17")
def test_there_are_four_tiers_from_task_to_archive() -> None:
    assert [str(tier) for tier in Tier] == ["task", "session", "longterm", "archive"]


@pytest.mark.spec("SPEC-02.11")
def test_a_relation_is_of_one_of_four_types() -> None:
    assert [str(kind) for kind in EdgeType] == ["relation", "composition", "causation", "context"]


@pytest.mark.spec("SPEC-02.18")
def test_a_draft_goes_to_the_task_tier_with_half_confidence() -> None:
    draft = NodeDraft("a text")
    assert (draft.tier, draft.confidence, draft.compute_embedding) == (Tier.TASK, 0.5, True)


def test_values_can_not_be_changed() -> None:
    for kind in vars(model).values():
        if dataclasses.is_dataclass(kind):
            assert getattr(kind, "__dataclass_params__").frozen, kind  # noqa: B009
            assert hasattr(kind, "__slots__"), kind


@pytest.mark.case("X03")
def test_a_short_id_is_the_first_eight_characters_in_lists_and_detail() -> None:
    node_id = "12345678-9abc-4def-8123-456789abcdef"
    row = NodeRow(node_id, NodeType.FACT, Tier.TASK, 0.5, "", 0, None, None, 0)
    assert Node(node_id, NodeType.FACT, "x").short_id == row.short_id == "12345678"


@pytest.mark.parametrize(
    ("filter", "shows"),
    [
        (NodeFilter(), False),
        (NodeFilter(include_archived=True), True),
        (NodeFilter(tiers=frozenset({Tier.ARCHIVE})), True),
        (NodeFilter(tiers=frozenset({Tier.TASK})), False),
    ],
)
@pytest.mark.spec("SPEC-03.19", "SPEC-03.20")
def test_archived_memories_show_only_when_asked_for(filter: NodeFilter, shows: bool) -> None:
    assert filter.shows_archived is shows


def test_the_digest_of_a_text_tells_texts_apart_and_takes_half_characters() -> None:
    assert content_hash("a") == content_hash("a") != content_hash("b")
    assert len(content_hash("\ud800")) == 32
