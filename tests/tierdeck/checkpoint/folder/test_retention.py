"""Retention takes what nothing protects, shows it first, and never what somebody would miss."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.tierdeck.checkpoint.folder.making import (
    NOW_NS,
    OTHER_BRANCH,
    files,
    filled,
    flip,
    opened,
    packed,
    save_all,
)
from tests.tierdeck.checkpoint.sample import forged
from tierdeck.checkpoint import Operation, Origin
from tierdeck.checkpoint.folder import (
    PrunePlan,
    Request,
    RetentionPolicy,
    SessionFolder,
    list_sessions,
    list_trash,
    plan_prune,
    prune,
)
from tierdeck.checkpoint.folder.retention import DAY_NS
from tierdeck.errors import ConflictError, DamagedCheckpointError, InvalidValueError

ONE = RetentionPolicy(last_per_branch=1)


def turns(plan: PrunePlan) -> list[int]:
    """Which would go."""
    return [each.turn for each in plan.delete]


def reasons(folder: SessionFolder, policy: RetentionPolicy = ONE) -> dict[int, str]:
    """Why each that stays does, by sequence."""
    return {kept.listed.sequence: kept.why for kept in plan_prune(folder, policy).kept}


@pytest.mark.case("K15")
@pytest.mark.spec("SPEC-09.22")
def test_the_last_ten_of_each_branch_stay_and_a_preview_changes_nothing(tmp_path: Path) -> None:
    folder = filled(tmp_path, 25)
    folder.switch_head(files(folder)[24], OTHER_BRANCH, expected_generation=0)
    save_all(folder, 12, branch=OTHER_BRANCH)
    before = files(folder)
    plan = plan_prune(folder, RetentionPolicy())
    assert [each.sequence for each in plan.delete] == [*range(1, 16), 26, 27]
    assert len(plan.kept) == 20
    assert plan.delete_bytes == sum(each.size_bytes for each in plan.delete)
    assert plan.kept_bytes + plan.delete_bytes == sum(each.size_bytes for each in folder.listed())
    assert files(folder) == before
    report = prune(folder, plan)
    assert report.moved == tuple(each.file for each in plan.delete)
    assert [each.sequence for each in folder.listed()] == [*range(16, 26), *range(28, 38)]
    assert plan_prune(folder, RetentionPolicy()).delete == ()


@pytest.mark.case("C15")
@pytest.mark.case("K14")
def test_a_hundred_saves_of_the_same_five_megabytes_stay_far_below_their_sum(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    size_bytes = 5_000_000 // 10  # a tenth of the case, and a tenth of every bound
    big = random.Random(3).randbytes(size_bytes)
    policy = RetentionPolicy(max_trash_bytes=10_000_000)
    pinned = folder.save(packed(0, repl_state={"big": big})).path.name
    folder.set_pin(pinned, True)
    most_bytes = 0
    for turn in range(1, 100):
        folder.save(packed(turn, repl_state={"big": big, "turn": turn}))
        prune(folder, plan_prune(folder, policy), is_automatic=True)
        most_bytes = max(most_bytes, list_sessions(tmp_path)[0].size_bytes)
    assert most_bytes < 17_000_000 < 100 * size_bytes / 2
    assert [each.turn for each in folder.listed()] == [0, *range(90, 100)]
    assert files(folder)[0] == pinned
    assert sum(each.size_bytes for each in list_trash(folder)) <= 10_000_000


@pytest.mark.case("K15")
def test_five_hundred_checkpoints_are_pruned_by_count_and_by_bytes(tmp_path: Path) -> None:
    folder = filled(tmp_path, 500)
    plan = plan_prune(folder, RetentionPolicy(last_per_branch=100, max_bytes=folder.listed()[0].size_bytes * 51))
    assert 445 <= len(plan.delete) <= 451
    assert turns(plan) == list(range(1, len(plan.delete) + 1)), "the oldest go"
    assert plan.over_budget is None
    prune(folder, plan)
    assert len(files(folder)) == 500 - len(plan.delete)


@pytest.mark.case("K16")
def test_head_pinned_labelled_manual_and_unfinished_ones_are_never_taken(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.save(packed(1))
    folder.save(packed(2))
    folder.save(packed(3))
    folder.save(packed(4, reason="manual"))
    folder.save(packed(5, label="kept"))
    running = Operation("op", "tool", "running")
    folder.save(packed(6, pending_operations=(running, Operation("op-2", "tool", "pending"))))
    folder.save(packed(7, pending_operations=(Operation("op", "tool", "done"),)))
    folder.save(packed(8))
    names = files(folder)
    folder.set_pin(names[1], True)
    folder.set_label(names[2], "by hand")
    folder.set_label(names[4], None)
    assert reasons(folder) == {
        2: "pinned",
        3: "labelled",
        4: "made by hand",
        6: "it has 2 unfinished operations",
        8: "HEAD",
    }
    prune(folder, plan_prune(folder, ONE))
    assert [each.turn for each in folder.listed()] == [2, 3, 4, 6, 8]


@pytest.mark.case("K16")
def test_where_a_branch_or_another_session_began_is_never_taken(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    for turn in range(1, 8):
        folder.save(packed(turn, checkpoint_id=f"{turn:016x}"))
    folder.switch_head(files(folder)[2], OTHER_BRANCH, expected_generation=0)
    folder.save(packed(4, branch=OTHER_BRANCH, parent=f"{2:016x}"))
    fork = opened(tmp_path, "agent-7-fork-1")
    fork.save(packed(1, session_id=fork.session_id, origin=Origin(folder.session_id, f"{5:016x}")))
    stranger = opened(tmp_path, "stranger")
    stranger.save(packed(1, session_id="stranger", origin=Origin("agent-8", f"{6:016x}")))
    assert reasons(folder) == {
        2: "a branch began at it",
        3: "HEAD was switched to it",
        5: "another session began at it",
        7: "one of the last of its branch",
        8: "HEAD",
    }


@pytest.mark.case("K16")
def test_what_a_request_names_is_not_taken(tmp_path: Path) -> None:
    folder = filled(tmp_path, 5)
    plan = plan_prune(folder, ONE)
    names = files(folder)
    asked = folder.ask(Request("rewind", names[1], "whole", 0, "ops", NOW_NS))
    report = prune(folder, plan)
    assert [tuple(each) for each in report.passed_over] == [(names[1], "a request names it")]
    assert files(folder) == [names[1], names[4]]
    folder.claim(asked)
    assert reasons(folder) == {2: "a request names it", 5: "HEAD"}


@pytest.mark.case("C09")
def test_the_newest_that_verifies_stays_with_all_that_came_after_it(tmp_path: Path) -> None:
    folder = filled(tmp_path, 8)
    for each in folder.listed()[4:]:
        flip(each.path)
    found = reasons(folder)
    assert found[4] == "the newest that verifies"
    assert set(found) == {4, 5, 6, 7, 8}
    for each in folder.listed():
        flip(each.path, -90)
    assert turns(plan_prune(folder, ONE)) == [], "none verifies: nobody knows which is the best"


def test_damaged_and_newer_ones_are_kept_and_count_for_no_branch(tmp_path: Path) -> None:
    folder = filled(tmp_path, 6)
    found = folder.listed()
    flip(found[5].path, 60)
    found[4].path.write_bytes(forged(found[4].path.read_bytes(), major=9))
    assert reasons(folder) == {4: "HEAD", 5: "written by a newer version", 6: "it can't be read"}


def test_ten_that_are_known_to_be_damaged_do_not_push_the_good_ones_out(tmp_path: Path) -> None:
    folder = filled(tmp_path, 6)
    for each in folder.listed()[3:]:
        flip(each.path)
    folder.newest_good()
    assert 3 not in turns(plan_prune(folder, RetentionPolicy(last_per_branch=2)))
    assert turns(plan_prune(folder, RetentionPolicy(last_per_branch=2))) == [1]


def test_old_ones_go_by_age_and_protected_ones_never(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    for days in (40, 30, 20, 10, 0):
        folder.save(packed(days, created_at_ns=NOW_NS - days * DAY_NS - 1))
    folder.set_pin(files(folder)[0], True)
    assert turns(plan_prune(folder, RetentionPolicy(max_age_days=15))) == [30, 20]
    assert turns(plan_prune(folder, RetentionPolicy(max_age_days=0))) == [30, 20, 10]


def test_protected_ones_over_the_budget_are_kept_and_said(tmp_path: Path) -> None:
    folder = filled(tmp_path, 4, reason="manual")
    plan = plan_prune(folder, RetentionPolicy(max_bytes=1000))
    assert plan.delete == ()
    assert plan.over_budget is not None
    assert "4 protected checkpoints take" in plan.over_budget
    assert "the budget is 1,000" in plan.over_budget


def test_what_was_pinned_after_the_plan_stays(tmp_path: Path) -> None:
    folder = filled(tmp_path, 4)
    plan = plan_prune(folder, ONE)
    names = files(folder)
    folder.set_pin(names[0], True)
    folder.set_label(names[1], "x")
    report = prune(folder, plan)
    assert [tuple(each) for each in report.passed_over] == [(names[0], "pinned"), (names[1], "labelled")]
    assert report.moved == (names[2],)


def test_a_plan_from_before_a_rewind_is_refused(tmp_path: Path) -> None:
    folder = filled(tmp_path, 4)
    plan = plan_prune(folder, ONE)
    folder.switch_head(files(folder)[0], OTHER_BRANCH, expected_generation=0)
    with pytest.raises(ConflictError, match="HEAD was switched"):
        prune(folder, plan)
    assert len(files(folder)) == 4


def test_a_head_that_cant_be_read_stops_retention(tmp_path: Path) -> None:
    folder = filled(tmp_path, 4)
    plan = plan_prune(folder, ONE)
    (folder.path / "HEAD").write_text("{")
    for use in (lambda: plan_prune(folder, ONE), lambda: prune(folder, plan)):
        with pytest.raises(DamagedCheckpointError):
            use()
    assert len(files(folder)) == 4


def test_a_policy_that_keeps_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="at least 1"):
        plan_prune(filled(tmp_path, 1), RetentionPolicy(last_per_branch=0))


def test_a_plan_reads_no_whole_file_when_there_is_nothing_to_take(tmp_path: Path) -> None:
    folder = filled(tmp_path, 3)
    plan_prune(folder, RetentionPolicy())
    assert {each.state for each in folder.listed()} == {"not verified"}
    assert "verified.json" not in os.listdir(folder.path)
