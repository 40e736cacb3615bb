"""The rules run by themselves: when, on what, one step at a time, and with which rows left behind."""

from __future__ import annotations

import time

import pytest

from tests.other_program import other_program
from tests.tierdeck.promote.clock import NOON, Clock
from tierdeck.config import PromotionSettings
from tierdeck.model import AccessKind, NodeDraft, Outcome, Tier
from tierdeck.promote.agents.access import end_session, record_accesses, set_outcome
from tierdeck.promote.agents.automatic import run_rules
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.log.breaks import accept_break
from tierdeck.promote.log.entries import entries
from tierdeck.promote.moves.holds import hold
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.runs import run, runs
from tierdeck.promote.records import AUTOMATIC_ACTOR, LogFilter, Refused, RunReport
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.store import Store, add_node, add_nodes, get_node, tier_moves

PULL = AccessKind.PULL
BY_HAND = PromotionSettings(automatic=False)


def pull(store: Store, name: str, node_id: str, outcome: Outcome | None = None) -> RunReport:
    return record_accesses(store, meet_session(store, name).id, [node_id], PULL, outcome=outcome)


def tier_of(store: Store, node_id: str) -> Tier:
    return get_node(store, node_id).tier


@pytest.mark.spec("SPEC-09.12", "SPEC-09.14")
def test_the_second_pull_within_a_session_moves_it_and_is_logged_in_both_logs(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    assert pull(store, "a", node_id).moved == ()
    assert pull(store, "a", node_id) == RunReport(None, (node_id,), ())
    assert tier_of(store, node_id) is Tier.SESSION
    [row] = entries(store, LogFilter())
    assert (row.kind, row.actor, row.rule, row.rule_version) == (
        "auto", AUTOMATIC_ACTOR, "task-session", Rules().version,
    )  # fmt: skip
    assert (row.from_tier, row.to_tier, row.run_id, row.at_ms) == ("task", "session", None, NOON)
    assert [(c.name, c.found, c.needed, c.passed) for c in row.criteria] == [("pulls in one session", 2, 2, True)]
    [move] = tier_moves(store, node_id)
    assert (move.from_tier, move.to_tier) == ("task", "session")
    assert runs(store) == []


@pytest.mark.spec("SPEC-09.12")
def test_a_memory_pulled_once_in_each_of_ten_sessions_stays_in_task(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x", confidence=1.0)).id
    for number in range(10):
        assert pull(store, f"run-{number}", node_id, "success").moved == ()
    assert tier_of(store, node_id) is Tier.TASK


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_the_third_session_with_a_success_moves_it_to_longterm_one_step_at_a_time(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x", confidence=0.8)).id
    for name in "ab":
        pull(store, name, node_id, "success")
    pull(store, "c", node_id)
    assert pull(store, "c", node_id).moved == (node_id,)
    assert tier_of(store, node_id) is Tier.SESSION, "it meets both rules, and moves one step"
    assert pull(store, "c", node_id).moved == (node_id,)
    assert tier_of(store, node_id) is Tier.LONGTERM
    assert [row.rule for row in entries(store, LogFilter())] == ["session-longterm", "task-session"]


@pytest.mark.spec("SPEC-09.11")
def test_an_outcome_moves_what_only_lacked_a_success(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x", tier=Tier.SESSION, confidence=0.9)).id
    for name in "abc":
        assert pull(store, name, node_id).moved == ()
    last = meet_session(store, "c")
    assert set_outcome(store, last.id, node_id, "failure").moved == ()
    assert set_outcome(store, last.id, node_id, "success").moved == (node_id,)
    assert tier_of(store, node_id) is Tier.LONGTERM


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_a_sessions_end_moves_what_was_pulled_in_it_and_below_and_leaves_a_run(store: Store, clock: Clock) -> None:
    ready, below, lacks = add_nodes(
        store,
        [NodeDraft(text, tier=Tier.SESSION, confidence=confidence) for text, confidence in
         (("x", 0.9), ("y", 0.9), ("z", 0.5))],
    )  # fmt: skip
    for name in "ab":
        record_accesses(store, meet_session(store, name).id, [ready, below, lacks], PULL)
    root = meet_session(store, "c")
    record_accesses(store, root.id, [ready, lacks], PULL)
    record_accesses(store, meet_session(store, "c/sub", parent="c").id, [below], PULL)
    clock.now += 5
    report = end_session(store, root.id, outcome="success")
    assert (set(report.moved), report.refused) == ({ready, below}, ())
    assert report.run_id is not None
    found = run(store, report.run_id)
    assert (found.kind, found.actor, found.planned, found.moved, found.refused) == (
        "session-end", AUTOMATIC_ACTOR, 2, 2, 0,
    )  # fmt: skip
    assert (found.at_ms, found.ended_at_ms, found.rule_version) == (NOON + 5, NOON + 5, Rules().version)
    assert found.rejections == (("confidence held", 1),)
    assert {row.run_id for row in entries(store, LogFilter())} == {report.run_id}


def test_a_sessions_end_that_moves_nothing_leaves_no_run(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    pull(store, "a", node_id)
    assert end_session(store, meet_session(store, "a").id, outcome="success") == RunReport(None, (), ())
    assert runs(store) == []


def test_a_sessions_end_looks_at_more_than_one_transaction_takes(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(str(n), tier=Tier.SESSION, confidence=0.9) for n in range(450)])
    for name in "abc":
        record_accesses(store, meet_session(store, name).id, ids, PULL)
    report = end_session(store, meet_session(store, "c").id, outcome="success")
    assert (sorted(report.moved), report.refused) == (sorted(ids), ())
    [found] = runs(store)
    assert (found.planned, found.moved, found.ended_at_ms) == (450, 450, NOON)


@pytest.mark.spec("SPEC-09.15")
def test_what_is_held_stays_and_a_move_by_hand_begins_the_evidence_anew(store: Store) -> None:
    held, moved = add_nodes(store, [NodeDraft("x"), NodeDraft("y")])
    hold(store, [held], actor="me", reason="keep it here")
    for _ in range(2):
        pull(store, "a", held)
        pull(store, "a", moved)
    assert (tier_of(store, held), tier_of(store, moved)) == (Tier.TASK, Tier.SESSION)
    override_tier(store, [moved], Tier.TASK, actor="me", reason="not yet", hold=False)
    assert pull(store, "a", moved).moved == (), "the two pulls before are no evidence any more"
    assert pull(store, "a", moved).moved == (moved,)


@pytest.mark.spec("SPEC-09.15")
def test_an_archived_memory_that_is_pulled_again_stays_until_somebody_says_so(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x", tier=Tier.ARCHIVE, confidence=1.0)).id
    for name in "abc":
        for _ in range(3):
            assert pull(store, name, node_id, "success").moved == ()
    assert tier_of(store, node_id) is Tier.ARCHIVE


def test_a_stale_memory_that_is_pulled_is_stale_no_more(store: Store, clock: Clock) -> None:
    node_id = add_node(store, NodeDraft("x", tier=Tier.LONGTERM)).id
    clock.now += 100 * DAY_MS
    assert pull(store, "a", node_id).moved == ()
    assert tier_of(store, node_id) is Tier.LONGTERM


def test_nothing_moves_by_itself_when_it_is_turned_off(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x", confidence=1.0)).id
    for name in "abc":
        session = meet_session(store, name)
        for _ in range(3):
            record_accesses(store, session.id, [node_id], PULL, settings=BY_HAND)
        set_outcome(store, session.id, node_id, "success", settings=BY_HAND)
        end_session(store, session.id, outcome="success", settings=BY_HAND)
    assert (tier_of(store, node_id), entries(store, LogFilter())) == (Tier.TASK, [])
    with store.writing() as conn:
        assert run_rules(conn, store, [node_id, "nothing"], Rules()) == ((node_id,), ())


def test_other_numbers_move_at_other_times(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    settings = PromotionSettings(session_pulls=1)
    session = meet_session(store, "a")
    assert record_accesses(store, session.id, [node_id], PULL, settings=settings).moved == (node_id,)
    assert entries(store, LogFilter())[0].rule_version == "1:1/3/1/0.8/90"


def test_a_pull_is_recorded_and_counted_also_when_the_logs_end_was_cut_off_and_nothing_can_move(
    store: Store,
) -> None:
    first, second = (add_node(store, NodeDraft(text)).id for text in ("x", "y"))
    for _ in range(2):
        pull(store, "a", first)
    with other_program(store.path) as other:
        other.do("conn.execute('DROP TRIGGER td_promotion_log_delete')")
        other.do("conn.execute('DELETE FROM td_promotion_log')")
    pull(store, "a", second)
    report = pull(store, "a", second)
    assert report.moved == ()
    assert report.refused == (Refused(second, "the promotion log ends with row 0, its head says 1 rows", "task"),)
    assert (get_node(store, second).access_count, tier_of(store, second)) == (2, Tier.TASK)
    accept_break(store, "mara", "somebody cut it")
    assert pull(store, "b", second).moved == (second,)


def test_a_long_sessions_end_rests_between_its_transactions_so_that_another_program_can_write(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = add_nodes(store, [NodeDraft(str(n), confidence=0.9) for n in range(450)])
    session = meet_session(store, "a").id
    for _ in range(2):
        record_accesses(store, session, ids, PULL, settings=BY_HAND)
    with other_program(store.path) as other:
        other.do("conn.execute('PRAGMA busy_timeout = 0')")
        rests: list[float] = []

        def rest(seconds: float) -> None:
            rests.append(seconds)
            other.do("conn.execute(\"UPDATE nodes SET provenance = 'theirs' WHERE pk = 1\")")

        with monkeypatch.context() as patched:
            patched.setattr(time, "sleep", rest)
            assert len(end_session(store, session, outcome="success").moved) == 450
    assert len(rests) == 2
    assert min(rests) > 0
