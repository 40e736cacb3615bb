"""Looks at memories recorded: what counts and what does not, whose outcome beats whose, what stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tierdeck.promote.clock import NOON, Clock, clocked
from tierdeck.config import PromotionSettings
from tierdeck.errors import ConflictError, InvalidValueError, NotFoundError
from tierdeck.model import AccessKind, NodeDraft, SessionRow, Tier
from tierdeck.promote.agents.access import end_session, record_accesses, set_outcome
from tierdeck.promote.agents.sessions import meet_session
from tierdeck.promote.evidence.count_check import count_differences
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.rules import DAY_MS, Facts, Rules, decide
from tierdeck.store import Store, access_summary, accesses, add_node, add_nodes, get_node, sessions

PULL = AccessKind.PULL
BY_HAND = PromotionSettings(automatic=False)


@pytest.fixture
def node_id(store: Store) -> str:
    return add_node(store, NodeDraft("x")).id


@pytest.fixture
def session(store: Store) -> SessionRow:
    return meet_session(store, "run-1")


def facts_of(store: Store, node_id: str) -> Facts:
    """The facts, once it is sure that what is kept is what the accesses give."""
    check = store.read(lambda conn: count_differences(conn, logs_confidence=True, is_own=True))
    assert check.examples == ()
    [facts] = read_facts(store, [node_id], store.now_ms())
    return facts


@pytest.mark.spec("SPEC-09.10")
@pytest.mark.case("P02")
def test_pushes_and_listings_are_seen_and_never_counted(store: Store, node_id: str) -> None:
    node = get_node(store, node_id)
    for number in range(5):
        met = meet_session(store, f"run-{number}")
        for _ in range(10):
            record_accesses(store, met.id, [node_id], AccessKind.PUSH, outcome="success")
        record_accesses(store, met.id, [node_id], AccessKind.SHOWN)
        record_accesses(store, met.id, [node_id], AccessKind.MAINTENANCE)
        end_session(store, met.id, outcome="success")
    facts = facts_of(store, node_id)
    assert (facts.max_pulls, facts.sessions, facts.successes) == (0, 0, 0)
    assert not decide(facts, Rules(), NOON).passes
    assert get_node(store, node_id) == node, "neither its tier nor its count nor its last use"
    summary = access_summary(store, node_id)
    assert (summary.pulls, summary.pushes, summary.shown, summary.maintenance) == (0, 50, 5, 5)
    met = meet_session(store, "asked")
    record_accesses(store, met.id, [node_id], PULL)
    summary = access_summary(store, node_id)
    assert (summary.pulls, summary.counted_pulls, summary.pushes) == (1, 1, 50)


@pytest.mark.case("P14")
def test_a_pull_is_there_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "again.db"
    with clocked(path, clock) as store:
        node_id = add_node(store, NodeDraft("x")).id
        clock.now += 7
        record_accesses(store, meet_session(store, "s").id, [node_id], PULL)
    with clocked(path, clock) as store:
        node = get_node(store, node_id)
        assert (node.access_count, node.last_accessed_ms) == (1, NOON + 7)
        assert facts_of(store, node_id).last_pull_ms == NOON + 7


def test_a_pull_moves_time_and_count_and_nothing_else(store: Store, node_id: str, session: SessionRow) -> None:
    def untouched() -> list[Any]:
        return store.read(
            lambda conn: [
                *conn.execute("SELECT * FROM content_fts_data ORDER BY id").fetchall(),
                *conn.execute("SELECT * FROM td_change").fetchall(),
                *conn.execute("SELECT id, content, tier, confidence, updated_at, metadata FROM nodes").fetchall(),
            ]
        )

    before = untouched()
    record_accesses(store, session.id, [node_id], PULL, at_ms=NOON + 9)
    record_accesses(store, session.id, [node_id], PULL, at_ms=NOON + 4, settings=BY_HAND)
    node = get_node(store, node_id)
    assert (node.access_count, node.last_accessed_ms) == (2, NOON + 9)
    assert untouched() == before


@pytest.mark.parametrize(
    ("stands", "found_ms"),
    [
        ("soon", NOON),
        (None, NOON),
        (NOON // 1000 - 1, NOON),
        (NOON // 1000 + 1, (NOON // 1000 + 1) * 1000),
        ("2026-12-24T18:00:00+09:00", 1_798_102_800_000),
        ("2026-01-01", NOON),
    ],
)
@pytest.mark.case("P08")
def test_a_later_use_stays_however_another_program_wrote_it(
    store: Store, node_id: str, session: SessionRow, stands: object, found_ms: int
) -> None:
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET last_accessed = ?, access_count = 'many'", (stands,))
    record_accesses(store, session.id, [node_id], PULL)
    node = get_node(store, node_id)
    assert (node.last_accessed_ms, node.access_count, node.problems) == (found_ms, 1, ())


@pytest.mark.case("P08")
@pytest.mark.parametrize(
    ("written", "means_ms"),
    [
        ("2026-05-01T10:00:00", 1_777_629_600_000),
        ("2026-05-01T10:00:00Z", 1_777_629_600_000),
        ("2026-05-01T10:00:00+09:00", 1_777_597_200_000),
        (1_777_629_600, 1_777_629_600_000),
        (1_777_629_600_000, 1_777_629_600_000),
    ],
)
def test_the_last_use_is_read_by_one_rule_whoever_wrote_it(
    tmp_path: Path, clock: Clock, written: object, means_ms: int
) -> None:
    clock.now = 1_700_000_000_000
    with clocked(tmp_path / "old.db", clock) as store:
        node_id = add_node(store, NodeDraft("x", tier=Tier.LONGTERM)).id
        with store.writing() as conn:
            conn.execute("UPDATE nodes SET last_accessed = ?", (written,))
        for age, is_due in ((90 * DAY_MS, False), (90 * DAY_MS + 1, True)):
            clock.now = means_ms + age
            facts = facts_of(store, node_id)
            assert (facts.last_use_ms, decide(facts, Rules(), clock.now).is_due) == (means_ms, is_due)


@pytest.mark.case("P06")
@pytest.mark.parametrize("ahead_ms", [1, 10 * DAY_MS, 90_000_000_000_000 - NOON])
def test_a_pull_in_the_future_counts_as_now_and_raises_no_confidence(
    store: Store, clock: Clock, session: SessionRow, ahead_ms: int
) -> None:
    node_id = add_node(store, NodeDraft("x", tier=Tier.LONGTERM, confidence=0.9)).id
    record_accesses(store, session.id, [node_id], PULL, at_ms=NOON + ahead_ms)
    facts = facts_of(store, node_id)
    assert facts.future == ("last accessed", "last pull")
    [criterion] = decide(facts, Rules(), clock.now).criteria
    assert (criterion.found, criterion.passed) == (0, False)
    assert criterion.note == "clock: last accessed, last pull in the future"
    assert (facts.confidence, facts.confidence_held, get_node(store, node_id).confidence) == (0.9, 0.9, 0.9)
    # A window that begins in the future holds no later change, and the next pull counts all the same.
    record_accesses(store, session.id, [node_id], PULL)
    assert facts_of(store, node_id).max_pulls == 2


def test_many_ids_are_recorded_at_once_each_once_or_none(store: Store, session: SessionRow) -> None:
    ids = add_nodes(store, [NodeDraft(str(number)) for number in range(300)])
    record_accesses(store, session.id, [*ids, ids[0]], PULL)
    assert store.read(lambda conn: conn.execute("SELECT count(*) FROM td_access").get) == 300
    with pytest.raises(NotFoundError, match="there is no memory nothing; nothing was recorded"):
        record_accesses(store, session.id, [ids[0], "nothing"], PULL)
    for kind in AccessKind:
        with pytest.raises(NotFoundError):
            record_accesses(store, session.id, [ids[1], "nothing"], kind)
    assert store.read(lambda conn: conn.execute("SELECT count(*) FROM td_access").get) == 300
    assert get_node(store, ids[0]).access_count == 1


def test_more_memories_than_one_transaction_takes_are_all_looked_at(store: Store, session: SessionRow) -> None:
    ids = add_nodes(store, [NodeDraft(str(number)) for number in range(450)])
    assert record_accesses(store, session.id, ids, PULL).moved == ()
    report = record_accesses(store, session.id, ids, PULL)
    assert (report.moved, report.refused, report.run_id) == (tuple(ids), (), None)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"kind": "looked"}, "kind 'looked' is none of pull, push"),
        ({"outcome": "good"}, "'good' is none of success, failure"),
        ({"outcome": ""}, "none of success"),
        ({"at_ms": 253_402_300_800_000}, "before the year 10000"),
        ({"at_ms": 1.5}, "not a whole number"),
        ({"at_ms": True}, "not a whole number"),
    ],
)
def test_what_is_no_kind_outcome_or_time_is_refused(
    store: Store, node_id: str, session: SessionRow, wrong: dict[str, Any], problem: str
) -> None:
    values = {"kind": "pull", "outcome": None, "at_ms": None} | wrong
    with pytest.raises(InvalidValueError, match=problem):
        record_accesses(store, session.id, [node_id], **values)
    assert accesses(store, node_id) == []


def test_an_access_from_nowhere_is_refused(store: Store, node_id: str) -> None:
    with pytest.raises(NotFoundError, match="no session 99"):
        record_accesses(store, 99, [node_id], PULL)
    with pytest.raises(NotFoundError, match="find session 99: there is none"):
        end_session(store, 99, outcome=None)
    assert accesses(store, node_id) == []


@pytest.mark.spec("SPEC-09.10")
def test_an_access_own_outcome_beats_its_sessions_and_that_the_roots(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(text) for text in "abc"])
    root = meet_session(store, "root")
    child = meet_session(store, "child", parent="root")
    quiet = meet_session(store, "quiet", parent="root")
    record_accesses(store, child.id, ids[:1], PULL, outcome="success")
    record_accesses(store, child.id, ids[1:2], PULL)
    record_accesses(store, quiet.id, ids[2:], PULL)
    assert [facts_of(store, i).successes for i in ids] == [1, 0, 0]
    end_session(store, child.id, outcome="failure")
    end_session(store, quiet.id, outcome=None)
    end_session(store, root.id, outcome="success")
    found = [facts_of(store, i) for i in ids]
    assert [(f.successes, f.failures) for f in found] == [(1, 0), (0, 1), (1, 0)]


def test_a_root_with_a_success_and_a_failure_counts_as_both(
    store: Store, node_id: str, session: SessionRow
) -> None:
    record_accesses(store, session.id, [node_id], PULL, outcome="success")
    record_accesses(store, session.id, [node_id], PULL, outcome="success")
    record_accesses(store, session.id, [node_id], PULL, outcome="failure")
    facts = facts_of(store, node_id)
    assert (facts.sessions, facts.successes, facts.failures) == (1, 1, 1)


def test_a_pull_after_the_end_counts_with_the_sessions_outcome(store: Store, node_id: str) -> None:
    met = meet_session(store, "s")
    end_session(store, met.id, outcome="success")
    record_accesses(store, met.id, [node_id], PULL)
    assert facts_of(store, node_id).successes == 1


def test_the_latest_pull_takes_the_outcome_and_gives_it_back(
    store: Store, node_id: str, session: SessionRow
) -> None:
    record_accesses(store, session.id, [node_id], PULL, at_ms=NOON + 5)
    record_accesses(store, session.id, [node_id], PULL, at_ms=NOON)
    record_accesses(store, session.id, [node_id], AccessKind.PUSH)
    set_outcome(store, session.id, node_id, "failure")
    assert [(a.kind, a.outcome) for a in accesses(store, node_id)] == [
        ("pull", None), ("push", None), ("pull", "failure"),
    ]  # fmt: skip
    assert facts_of(store, node_id).failures == 1
    set_outcome(store, session.id, node_id, "success")
    facts = facts_of(store, node_id)
    assert (facts.successes, facts.failures) == (1, 0)
    end_session(store, session.id, outcome="failure")
    facts = facts_of(store, node_id)
    assert (facts.successes, facts.failures) == (1, 1), "the other pull of it is worth what the session is"
    set_outcome(store, session.id, node_id, None)
    facts = facts_of(store, node_id)
    assert (facts.successes, facts.failures) == (0, 1)


def test_an_outcome_without_a_pull_is_refused(store: Store, node_id: str, session: SessionRow) -> None:
    record_accesses(store, session.id, [node_id], AccessKind.PUSH)
    for missing in (node_id, "nothing"):
        with pytest.raises(NotFoundError, match="was not pulled in session 1"):
            set_outcome(store, session.id, missing, "success")
    with pytest.raises(InvalidValueError):
        set_outcome(store, session.id, node_id, "SUCCESS")  # type: ignore[arg-type]


def test_an_ended_session_ends_again_without_effect_takes_a_missing_outcome_and_refuses_the_other(
    store: Store, clock: Clock, node_id: str, session: SessionRow
) -> None:
    record_accesses(store, session.id, [node_id], PULL)
    end_session(store, session.id, outcome=None)
    clock.now += 5
    end_session(store, session.id, outcome=None)
    end_session(store, session.id, outcome="success")
    end_session(store, session.id, outcome="success")
    end_session(store, session.id, outcome=None)
    with pytest.raises(ConflictError, match="its outcome is success, and failure is asked for"):
        end_session(store, session.id, outcome="failure")
    [stands] = sessions(store)
    assert (stands.ended_at_ms, stands.outcome) == (NOON, "success")
    assert facts_of(store, node_id).successes == 1
