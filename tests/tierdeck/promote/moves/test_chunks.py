"""A long run whose later transaction fails: what it says of those before."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.other_program import other_program
from tests.tierdeck.promote.pulls import pull
from tierdeck.errors import StoreBusyError
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.log.entries import count_entries
from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.holds import hold
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.moves.undo import undo_run
from tierdeck.promote.outlook.sweep import apply_sweep
from tierdeck.promote.outlook.sweep_plan import plan_sweep
from tierdeck.promote.records import LogFilter
from tierdeck.promote.rules import Rules
from tierdeck.store import Store, add_nodes, open_store

Run = Callable[[Store, list[str], Pace], object]
RULES = Rules()


def swept(store: Store, _ids: list[str], pace: Pace) -> object:
    plan = plan_sweep(store, RULES, store.now_ms())
    return apply_sweep(store, plan, rules=RULES, actor="mara", confirmed=True, pace=pace)


def taken_back(store: Store, _ids: list[str], pace: Pace) -> object:
    return undo_run(store, runs(store)[0].id, actor="mara", pace=pace)


RUNS: dict[str, Run] = {
    "override": lambda store, ids, pace: override_tier(
        store, ids, Tier.LONGTERM, actor="mara", reason="known good", pace=pace
    ),
    "approve": lambda store, ids, pace: approve(store, ids, rules=RULES, actor="mara", pace=pace),
    "hold": lambda store, ids, pace: hold(store, ids, actor="mara", reason="not yet", pace=pace),
    "undo": taken_back,
    "sweep": swept,
}


@pytest.mark.spec("SPEC-09.13")
@pytest.mark.parametrize("kind", RUNS)
def test_a_run_that_fails_after_its_first_transaction_says_that_this_one_stands(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "memory.db"
    with open_store(path, create=True, busy_timeout_ms=50) as store, other_program(path) as other:
        ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(450)])
        pull(store, ids, times=2)
        if kind == "undo":
            approve(store, ids, rules=RULES, actor="mara")
        before = count_entries(store, LogFilter())
        pace = Pace(lambda _done, _total: other.do("conn.execute('BEGIN IMMEDIATE')"), pause_ms=0)
        with pytest.raises(StoreBusyError, match=re.escape("what was done with 200 memories before stays")) as told:
            RUNS[kind](store, ids, pace)
        assert "nothing" not in told.value.message
        assert told.value.hint == "try again when it is done"
        assert count_entries(store, LogFilter()) == before + 200


def test_a_run_that_fails_in_its_first_transaction_says_that_nothing_was_changed(store: Store) -> None:
    ids = add_nodes(store, [NodeDraft(f"memory {n}") for n in range(2)])
    with open_store(store.path, busy_timeout_ms=50) as hasty, other_program(store.path) as other:
        other.do("conn.execute('BEGIN IMMEDIATE')")
        with pytest.raises(StoreBusyError, match="nothing was changed"):
            hold(hasty, ids, actor="mara", reason="not yet")
