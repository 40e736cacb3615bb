"""Which session a name means: the open one, a new run, a placeholder; and which session it all began with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.folder_state import folder_state
from tests.tierdeck.promote.clock import NOON, Clock, clocked
from tierdeck.errors import InvalidValueError, ReadOnlyStoreError
from tierdeck.model import AccessKind, NodeDraft
from tierdeck.promote.agents.access import end_session, record_accesses
from tierdeck.promote.agents.sessions import IDLE_MS, MAX_NAME_CHARS, meet_session
from tierdeck.promote.evidence.count_check import count_differences
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.store import Store, access_summary, add_node, add_session, open_store, sessions

PULL = AccessKind.PULL


def pull(store: Store, session: int, *ids: str, at_ms: int | None = None) -> None:
    record_accesses(store, session, ids, PULL, at_ms=at_ms)


def counted(store: Store, node_id: str) -> tuple[int, int]:
    """The most pulls in one root session, and how many root sessions there are."""
    [facts] = read_facts(store, [node_id], store.now_ms())
    check = store.read(lambda conn: count_differences(conn, logs_confidence=True, is_own=True))
    assert check.examples == ()
    return facts.max_pulls, facts.sessions


@pytest.mark.spec("SPEC-09.10")
@pytest.mark.case("P04")
def test_a_session_that_reconnects_three_times_is_one_session(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    clock = Clock()
    with clocked(path, clock) as store:
        node_id = add_node(store, NodeDraft("x")).id
    for _ in range(3):  # each time in another process's place, with nothing kept but the name
        with clocked(path, clock) as store:
            pull(store, meet_session(store, "run-41").id, node_id)
        clock.now += IDLE_MS - 1
    with clocked(path, clock) as store:
        assert len(sessions(store)) == 1
        assert counted(store, node_id) == (3, 1)
        assert access_summary(store, node_id).pulls == 3


def test_after_12_hours_without_a_sign_of_life_the_same_name_is_a_new_run(tmp_path: Path) -> None:
    clock = Clock()
    with clocked(tmp_path / "memory.db", clock) as store:
        first = meet_session(store, "s")
        clock.now += IDLE_MS - 1
        assert meet_session(store, "s").id == first.id
        clock.now += IDLE_MS
        again = meet_session(store, "s")
        assert (again.run, again.root_id, again.started_at_ms) == (2, again.id, clock.now)


def test_an_access_is_a_sign_of_life_also_of_the_session_it_all_began_with(tmp_path: Path) -> None:
    clock = Clock()
    with clocked(tmp_path / "memory.db", clock) as store:
        node_id = add_node(store, NodeDraft("x")).id
        root = meet_session(store, "root")
        child = meet_session(store, "child", parent="root")
        clock.now += IDLE_MS - 1
        pull(store, child.id, node_id)
        clock.now += IDLE_MS - 1
        assert meet_session(store, "root").id == root.id
        assert meet_session(store, "child").id == child.id


def test_a_session_of_an_older_version_is_known_by_its_accesses(tmp_path: Path) -> None:
    clock = Clock()
    with clocked(tmp_path / "memory.db", clock) as store:
        node_id = add_node(store, NodeDraft("x")).id
        old = add_session(store, "s", started_at_ms=NOON - 2 * IDLE_MS)
        with store.writing() as conn:
            conn.execute(
                "INSERT INTO td_access (node_id, session_id, kind, at) VALUES (?, ?, 'push', ?)",
                (node_id, old.id, NOON - IDLE_MS),
            )
        clock.now = NOON - 1
        assert meet_session(store, "s").id == old.id
        clock.now = NOON + 2 * IDLE_MS
        assert meet_session(store, "s").run == 2


def test_an_ended_session_is_never_gone_on_with(tmp_path: Path) -> None:
    with clocked(tmp_path / "memory.db", Clock()) as store:
        first = meet_session(store, "s")
        end_session(store, first.id, outcome=None)
        assert meet_session(store, "s").run == 2


def test_a_clock_that_went_back_does_not_begin_a_new_run(tmp_path: Path) -> None:
    clock = Clock()
    with clocked(tmp_path / "memory.db", clock) as store:
        first = meet_session(store, "s")
        clock.now -= 30 * IDLE_MS
        assert meet_session(store, "s").id == first.id


def test_project_and_agent_are_filled_in_once(store: Store) -> None:
    assert meet_session(store, "s").project is None
    filled = meet_session(store, "s", project="billing", agent="coder")
    assert (filled.project, filled.agent) == ("billing", "coder")
    assert meet_session(store, "s", project="other", agent="") == filled


@pytest.mark.spec("SPEC-09.10")
@pytest.mark.case("P01")
def test_pulls_of_a_session_and_its_sub_agents_count_as_one_session(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    pull(store, meet_session(store, "s1").id, node_id)
    for name in ("s1/sub-a", "s1/sub-b"):
        pull(store, meet_session(store, name, parent="s1").id, node_id)
    below = meet_session(store, "s1/sub-a/deep", parent="s1/sub-a")
    pull(store, below.id, node_id)
    assert below.root_id == meet_session(store, "s1").id
    assert counted(store, node_id) == (4, 1)
    [facts] = read_facts(store, [node_id], store.now_ms())
    assert (facts.tier, facts.sessions) == ("session", 1), "used often within one session, and in no other"


def test_an_unknown_parent_gets_a_row_that_it_takes_when_it_is_met(tmp_path: Path) -> None:
    clock = Clock()
    with clocked(tmp_path / "memory.db", clock) as store:
        child = meet_session(store, "child", parent="root")
        [placeholder] = [s for s in sessions(store) if s.external_id == "root"]
        assert (child.root_id, child.parent_id, placeholder.project) == (placeholder.id, placeholder.id, None)
        clock.now += 3 * IDLE_MS
        root = meet_session(store, "root", project="billing", agent="coder", at_ms=NOON - 5)
        assert (root.id, root.run, root.project, root.agent) == (placeholder.id, 1, "billing", "coder")
        assert root.started_at_ms == NOON - 5, "it began before its sub-agent told of it"
        clock.now += 30 * IDLE_MS
        assert meet_session(store, "root").run == 2, "from now on it is a session like any other"


def test_a_parent_learned_late_takes_over_all_that_began_below_and_the_counts_follow(store: Store) -> None:
    one, two = (add_node(store, NodeDraft(text)).id for text in "xy")
    for name, parent in (("b", None), ("c", "b"), ("d", "c")):
        pull(store, meet_session(store, name, parent=parent).id, one)
    pull(store, meet_session(store, "a").id, one, two)
    assert counted(store, one) == (3, 2)
    moved = meet_session(store, "b", parent="a")
    assert {s.root_id for s in sessions(store)} == {meet_session(store, "a").id}
    assert moved.parent_id == moved.root_id
    assert counted(store, one) == (4, 1)
    assert counted(store, two) == (1, 1)


def test_a_placeholder_that_turns_out_to_have_a_parent_moves_under_it(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    pull(store, meet_session(store, "leaf", parent="middle").id, node_id)
    pull(store, meet_session(store, "top").id, node_id)
    assert counted(store, node_id) == (1, 2)
    meet_session(store, "middle", parent="top")
    assert counted(store, node_id) == (2, 1)


def test_the_outcome_of_a_root_learned_late_counts_for_what_was_pulled_below(store: Store) -> None:
    node_id = add_node(store, NodeDraft("x")).id
    pull(store, meet_session(store, "child").id, node_id)
    with store.writing() as conn:
        meet_session(store, "root")
        conn.execute("UPDATE td_session SET outcome = 'failure' WHERE external_id = 'root'")
    meet_session(store, "child", parent="root")
    [facts] = read_facts(store, [node_id], store.now_ms())
    assert (facts.successes, facts.failures) == (0, 1)


def test_the_same_name_under_another_parent_is_another_run(store: Store) -> None:
    first = meet_session(store, "explorer", parent="run-1")
    second = meet_session(store, "explorer", parent="run-2")
    assert (first.run, second.run, first.root_id == second.root_id) == (1, 2, False)
    assert meet_session(store, "explorer", parent="run-1").id == first.id
    assert meet_session(store, "explorer").id == second.id, "without a parent the latest is meant"


def test_a_sub_agent_belongs_to_the_latest_run_of_its_parent(store: Store) -> None:
    first = meet_session(store, "root")
    old = meet_session(store, "child", parent="root")
    end_session(store, first.id, outcome=None)
    second = meet_session(store, "root")
    new = meet_session(store, "child", parent="root")
    assert (old.root_id, new.root_id, new.run) == (first.id, second.id, 2)


def test_a_session_that_would_be_its_own_ancestor_is_refused(store: Store) -> None:
    meet_session(store, "b", parent="a")
    meet_session(store, "c", parent="b")
    end_session(store, meet_session(store, "a").id, outcome=None)
    before = sessions(store)
    for name, parent in (("new", "new"), ("a", "c"), ("b", "c"), ("a", "b")):
        with pytest.raises(InvalidValueError, match="is itself or began under it"):
            meet_session(store, name, parent=parent)
    assert sessions(store) == before


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "0 characters, the limit is 500"),
        (" \t\n", "3 characters"),
        ("x" * (MAX_NAME_CHARS + 1), "501 characters, the limit is 500"),
        ("a\0b", "NUL character at 1"),
        ("a\ud800", "lone surrogate.* at 1"),
    ],
)
def test_a_name_that_can_be_none_is_refused_with_its_limit(store: Store, name: str, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        meet_session(store, name)
    with pytest.raises(InvalidValueError, match=f"parent session id .*{problem}"):
        meet_session(store, "fine", parent=name)
    assert sessions(store) == []
    assert meet_session(store, "x" * MAX_NAME_CHARS).run == 1


def test_another_programs_store_takes_no_session_and_is_left_as_it_was(family_store_path: Path) -> None:
    before = folder_state(family_store_path.parent)
    with (
        open_store(family_store_path) as store,
        pytest.raises(ReadOnlyStoreError, match="another program's store, not adopted"),
    ):
        meet_session(store, "s")
    assert folder_state(family_store_path.parent) == before
