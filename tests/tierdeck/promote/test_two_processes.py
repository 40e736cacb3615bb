"""Real processes that decide about the same memories at once: one of them does it, the other is told."""

from __future__ import annotations

import pytest

from tests.tierdeck.promote.pulls import pull
from tests.tierdeck.promote.racing import race
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import entries
from tierdeck.promote.moves.holds import holds
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.records import LogFilter
from tierdeck.store import Store, add_nodes, get_node, tier_moves

MEMORIES = 60


@pytest.fixture
def ids(store: Store) -> list[str]:
    """Candidates, each pulled twice in a session."""
    found = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(MEMORIES)])
    pull(store, found, times=2)
    return found


def check_once(store: Store, ids: list[str], *, rows: int = 1) -> None:
    """So many transitions of each memory, each with one row in our log and one in the family's."""
    assert verify_log(store).problem is None
    for node_id in ids:
        ours = [row for row in entries(store, LogFilter(node_id=node_id)) if row.is_move]
        theirs = tier_moves(store, node_id)
        assert len(ours) == len(theirs) == rows
        assert ours[0].to_tier == get_node(store, node_id).tier


@pytest.mark.spec("SPEC-09.13", "SPEC-09.14", "SPEC-09.15")
@pytest.mark.parametrize("code", ["[node_id]", "ids"])
def test_one_of_two_that_approve_the_same_moves_it_and_the_other_is_told(
    store: Store, ids: list[str], code: str
) -> None:
    approve = f"approve(store, {code}, rules=Rules(), actor=me)"
    first, second = race(store.path, ids, approve, approve)
    check_once(store, ids)
    assert sorted([*first["moved"], *second["moved"]]) == sorted(ids)
    for one, other in ((first, second), (second, first)):
        assert set(one["refused"]) == set(other["moved"])
        assert all("no candidate: sessions 1, needed >= 3" in why for why in one["refused"].values())
    assert {row.actor for row in entries(store, LogFilter(kind="approve"))} <= {"p0", "p1"}
    assert all(run.ended_at_ms is not None for run in runs(store))


@pytest.mark.spec("SPEC-09.15", "SPEC-09.14")
def test_of_two_that_give_different_tiers_by_what_they_saw_one_wins_each_memory(
    store: Store, ids: list[str]
) -> None:
    codes = (
        f"override_tier(store, [node_id], Tier.{tier}, actor=me, reason='I know', seen={{node_id: 'task'}})"
        for tier in ("LONGTERM", "ARCHIVE")
    )
    first, second = race(store.path, ids, *codes)
    check_once(store, ids)
    assert sorted([*first["moved"], *second["moved"]]) == sorted(ids)
    assert set(first["refused"].values()) <= {"it is in archive by now, no longer in task"}
    assert set(second["refused"].values()) <= {"it is in longterm by now, no longer in task"}
    assert len(first["refused"]) + len(second["refused"]) == MEMORIES
    standing = {hold.node_id: hold.tier for hold in holds(store, now_ms=store.now_ms())}
    assert standing == {node_id: get_node(store, node_id).tier for node_id in ids}


@pytest.mark.spec("SPEC-09.15")
def test_of_two_that_take_the_same_move_back_one_does_and_the_other_is_told_by_which_row(
    store: Store, ids: list[str]
) -> None:
    override_tier(store, ids, Tier.LONGTERM, actor="mara", reason="known good")
    undo = "undo_move(store, node_id, actor=me, log_id=1 + ids_in.index(node_id))".replace("ids_in", repr(ids))
    first, second = race(store.path, ids, undo, undo)
    check_once(store, ids, rows=2)
    assert sorted([*first["moved"], *second["moved"]]) == sorted(ids)
    refused = first["refused"] | second["refused"]
    assert set(refused) == set(ids)
    assert all("was taken back already, by row" in why for why in refused.values())
    assert {get_node(store, node_id).tier for node_id in ids} == {Tier.TASK}


@pytest.mark.spec("SPEC-09.15")
def test_a_run_that_two_take_back_at_once_is_taken_back_once(store: Store, ids: list[str]) -> None:
    override_tier(store, ids, Tier.LONGTERM, actor="mara", reason="known good")
    first, second = race(store.path, ids, *["(ids, undo_run(store, 1, actor=me))[1]"] * 2)
    check_once(store, ids, rows=2)
    assert sorted([*first["moved"], *second["moved"]]) == sorted(ids)
    assert holds(store, now_ms=store.now_ms()) == []


@pytest.mark.spec("SPEC-09.15", "SPEC-09.14")
def test_moves_holds_and_undos_of_four_processes_leave_one_whole_log(store: Store, ids: list[str]) -> None:
    race(
        store.path,
        ids,
        "approve(store, [node_id], rules=Rules(), actor=me)",
        "hold(store, [node_id], actor=me, reason='not yet')",
        "override_tier(store, [node_id], Tier.ARCHIVE, actor=me, reason='too old')",
        "undo_move(store, node_id, actor=me)",
    )
    assert verify_log(store).problem is None
    for node_id in ids:
        rows = [row for row in entries(store, LogFilter(node_id=node_id)) if row.is_move]
        tiers = ["task", *(row.to_tier for row in reversed(rows))]
        assert [row.from_tier for row in reversed(rows)] == tiers[:-1]
        assert get_node(store, node_id).tier == tiers[-1]
        assert len(tier_moves(store, node_id)) == len(rows)
