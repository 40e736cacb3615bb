"""What sessions did, counted by kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierdeck.model import AccessKind, NodeDraft, Outcome
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.store import Store, add_nodes, open_store
from tierdeck.store.session_uses import session_uses, uses_of_node


@pytest.fixture
def ids(store: Store) -> list[str]:
    """Two memories."""
    return add_nodes(store, [NodeDraft("one"), NodeDraft("two")])


@pytest.mark.spec("SPEC-09.10")
@pytest.mark.case("P01", "P02")
def test_kinds_are_counted_apart_and_a_part_names_its_root(store: Store, ids: list[str]) -> None:
    part = meet_session(store, "s1/sub-a", parent="s1", at_ms=2_000)
    for kind, times in ((AccessKind.PULL, 2), (AccessKind.PUSH, 3), (AccessKind.SHOWN, 1)):
        for _ in range(times):
            record_accesses(store, part.id, ids, kind, at_ms=3_000)
    found = {use.session.external_id: use for use in session_uses(store)}
    use = found["s1/sub-a"]
    assert (use.pulls, use.pushes, use.shown, use.maintenance, use.root) == (4, 6, 2, 0, "s1")
    assert (found["s1"].pulls, found["s1"].last_ms) == (0, None)


def test_the_latest_begun_comes_first_and_the_limit_is_one_of_sessions(store: Store, ids: list[str]) -> None:
    for number in range(4):
        session = meet_session(store, f"s{number}", at_ms=number * 1_000)
        record_accesses(store, session.id, ids, AccessKind.PULL, at_ms=number * 1_000)
    assert [use.session.external_id for use in session_uses(store, limit_rows=2)] == ["s3", "s2"]


def test_project_and_agent_filter_exactly(store: Store) -> None:
    meet_session(store, "a", project="shop", agent="coder")
    meet_session(store, "b", project="shop", agent="writer")
    meet_session(store, "c", project="shops", agent="coder")
    assert {use.session.external_id for use in session_uses(store, project="shop")} == {"a", "b"}
    assert [use.session.external_id for use in session_uses(store, project="shop", agent="coder")] == ["a"]


def test_the_uses_of_one_memory_leave_out_the_others(store: Store, ids: list[str]) -> None:
    outcomes: tuple[Outcome | None, ...] = ("failure", "success", None)
    for number, outcome in enumerate(outcomes):
        session = meet_session(store, f"s{number}")
        at_ms = session.started_at_ms + number
        record_accesses(store, session.id, ids, AccessKind.PULL, at_ms=at_ms)
        record_accesses(store, session.id, ids[:1], AccessKind.PULL, outcome=outcome, at_ms=at_ms)
    first = uses_of_node(store, ids[0])
    assert [(use.session.external_id, use.pulls, use.outcome) for use in first] == [
        ("s2", 2, None),
        ("s1", 2, "success"),
        ("s0", 2, "failure"),
    ]
    assert [use.pulls for use in uses_of_node(store, ids[1], limit_rows=2)] == [1, 1]


def test_a_store_without_our_tables_has_none(family_store_path: Path) -> None:
    with open_store(family_store_path) as store:
        assert session_uses(store) == []
        assert uses_of_node(store, "any") == []
