"""The facts as the store gives them, above all the confidence held over the latest three root sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.family import FAMILY_SCHEMA, family_id
from tests.tierdeck.promote.clock import NOON, Clock, clocked
from tierdeck.config import PromotionSettings
from tierdeck.errors import NotFoundError, ReadOnlyStoreError
from tierdeck.maintenance import adopt
from tierdeck.model import AccessKind, NodeChanges, NodeDraft, Tier
from tierdeck.promote.agents.access import record_accesses
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.evidence.count_check import count_differences
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.rules import DAY_MS, Facts
from tierdeck.store import Store, add_node, confidence_changes, edit_node, open_store, undo

BY_HAND = PromotionSettings(automatic=False)
HOUR = 3_600_000


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["own", "adopted"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """A store of ours, and one of the family's that was adopted."""
    path = tmp_path / "memory.db"
    if request.param == "adopted":
        with closing(sqlite3.connect(path)) as conn:
            conn.executescript(FAMILY_SCHEMA)
        adopt(path)
    with clocked(path, clock) as opened:
        yield opened


def facts_of(store: Store, node_id: str) -> Facts:
    is_own = store.kind == "own"
    check = store.read(lambda conn: count_differences(conn, logs_confidence=True, is_own=is_own))
    assert check.examples == ()
    [facts] = read_facts(store, [node_id], store.now_ms())
    return facts


def pull_in_sessions(store: Store, clock: Clock, node_id: str, names: str) -> None:
    """One pull in a new session for each letter, a day apart."""
    for name in names:
        clock.now += DAY_MS
        record_accesses(store, meet_session(store, name).id, [node_id], AccessKind.PULL, settings=BY_HAND)


def set_confidence(store: Store, clock: Clock, node_id: str, value: float) -> None:
    clock.now += HOUR
    edit_node(store, node_id, NodeChanges(confidence=value), actor="me")


@pytest.fixture
def node_id(store: Store) -> str:
    return add_node(store, NodeDraft("x", tier=Tier.SESSION, confidence=0.9)).id


@pytest.mark.spec("SPEC-09.11")
def test_without_a_pull_no_confidence_is_held_and_without_a_change_there_is_no_history(
    store: Store, clock: Clock, node_id: str
) -> None:
    facts = facts_of(store, node_id)
    assert (facts.confidence, facts.confidence_held, facts.has_history) == (0.9, None, False)
    pull_in_sessions(store, clock, node_id, "a")
    facts = facts_of(store, node_id)
    assert (facts.confidence_held, facts.has_history) == (0.9, False)


@pytest.mark.spec("SPEC-09.11")
def test_a_dip_before_the_latest_three_root_sessions_does_not_count(
    store: Store, clock: Clock, node_id: str
) -> None:
    pull_in_sessions(store, clock, node_id, "a")
    set_confidence(store, clock, node_id, 0.3)
    set_confidence(store, clock, node_id, 0.85)
    pull_in_sessions(store, clock, node_id, "bc")
    assert facts_of(store, node_id).confidence_held == 0.3, "the window begins with the first session still"
    pull_in_sessions(store, clock, node_id, "d")
    facts = facts_of(store, node_id)
    assert (facts.confidence_held, facts.has_history) == (0.85, True)


@pytest.mark.spec("SPEC-09.11")
def test_a_dip_inside_the_window_counts_also_when_it_is_over(store: Store, clock: Clock, node_id: str) -> None:
    pull_in_sessions(store, clock, node_id, "abc")
    set_confidence(store, clock, node_id, 0.4)
    assert facts_of(store, node_id).confidence_held == 0.4
    set_confidence(store, clock, node_id, 0.95)
    facts = facts_of(store, node_id)
    assert (facts.confidence, facts.confidence_held) == (0.95, 0.4)


@pytest.mark.spec("SPEC-09.11")
def test_the_value_at_the_windows_start_counts(store: Store, clock: Clock, node_id: str) -> None:
    set_confidence(store, clock, node_id, 0.6)
    pull_in_sessions(store, clock, node_id, "abc")
    set_confidence(store, clock, node_id, 0.9)
    assert facts_of(store, node_id).confidence_held == 0.6


def test_an_undone_dip_is_in_the_history_at_the_time_of_its_store(store: Store, clock: Clock, node_id: str) -> None:
    pull_in_sessions(store, clock, node_id, "abc")
    set_confidence(store, clock, node_id, 0.4)
    clock.now += HOUR
    undo(store, node_id, actor="me")
    assert facts_of(store, node_id).confidence_held == 0.4
    steps = [(step.old, step.new, step.at_ms, step.trigger) for step in confidence_changes(store, node_id)]
    assert steps == [(0.9, 0.4, clock.now - HOUR, "manual"), (0.4, 0.9, clock.now, "manual")]
    pull_in_sessions(store, clock, node_id, "def")
    assert facts_of(store, node_id).confidence_held == 0.9


def test_another_programs_change_without_a_log_row_counts_where_a_trigger_sees_it(
    store: Store, clock: Clock, node_id: str
) -> None:
    pull_in_sessions(store, clock, node_id, "abc")
    for value in (0.2, 0.9):
        with store.writing() as conn:
            conn.execute("UPDATE nodes SET confidence = ? WHERE id = ?", (value, node_id))
    facts = facts_of(store, node_id)
    if store.kind == "own":
        assert (facts.confidence_held, facts.has_history) == (0.2, True)
        assert [(c.new, c.trigger) for c in confidence_changes(store, node_id)] == [
            (0.2, "unlogged"), (0.9, "unlogged"),
        ]  # fmt: skip
    else:
        assert (facts.confidence_held, facts.has_history) == (0.9, False)


def test_another_programs_log_row_is_the_history_of_an_adopted_store(
    store: Store, clock: Clock, node_id: str
) -> None:
    pull_in_sessions(store, clock, node_id, "abc")
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET confidence = 0.95, updated_at = ? WHERE id = ?", (clock.now + 1, node_id))
        conn.execute(
            "INSERT INTO confidence_updates (node_id, old_confidence, new_confidence, trigger_type, timestamp) "
            "VALUES (?, 0.9, 0.95, 'outcome', ?)",
            (node_id, (clock.now + 1) // 1000),
        )
    assert facts_of(store, node_id).confidence_held == 0.9
    assert [(c.new, c.trigger) for c in confidence_changes(store, node_id)] == [(0.95, "outcome")]


def test_a_tier_and_an_id_that_are_no_text_stop_nobody(store: Store, node_id: str) -> None:
    with store.writing() as conn:
        conn.pragma("ignore_check_constraints", True)
        conn.execute("UPDATE nodes SET tier = CAST(x'ff' AS TEXT), confidence = 'high' WHERE id = ?", (node_id,))
        conn.pragma("ignore_check_constraints", False)
    facts = facts_of(store, node_id)
    assert (facts.tier, facts.confidence) == ("\ufffd", 0)
    report = record_accesses(store, meet_session(store, "s").id, [node_id], AccessKind.PULL)
    assert report.moved == ()


def test_an_unknown_memory_is_named(store: Store, node_id: str) -> None:
    with pytest.raises(NotFoundError, match="read memory nothing"):
        read_facts(store, [node_id, "nothing"], NOON)


def test_another_programs_store_has_no_facts(family_store_path: Path) -> None:
    with (
        open_store(family_store_path) as theirs,
        pytest.raises(ReadOnlyStoreError, match="no accesses are recorded"),
    ):
        read_facts(theirs, [family_id(1)], NOON)
