"""A process that is killed with SIGKILL in the middle of a big run: each memory moved and logged, or neither."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.tierdeck.promote.pulls import pull
from tierdeck.model import NodeDraft, Tier
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.holds import holds
from tierdeck.promote.moves.override import override_tier
from tierdeck.promote.moves.runs import run, runs
from tierdeck.promote.moves.undo import undo_run
from tierdeck.promote.rules import Rules
from tierdeck.store import Store, add_nodes

MEMORIES = 2_000

# It kills itself by a timer, begun with its first transaction done: from outside the kill could come too late.
_WORKER = """
import os, sys, threading
from tierdeck.model import Tier
from tierdeck.promote import *
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.rules import Rules
from tierdeck.store import open_store

def die_soon(done, total):
    threading.Timer(float(sys.argv[3]), os.kill, (os.getpid(), 9)).start()

with open_store(sys.argv[1]) as store:
    ids = [row[0] for row in store.read(lambda c: c.execute("SELECT id FROM nodes WHERE tier = 'task'").fetchall())]
    eval(sys.argv[2])
"""


def kill_in_the_middle(store: Store, code: str, *, after_s: float) -> None:
    """Run it in a process of its own, which is killed so long after its first transaction."""
    ended = subprocess.run(
        [sys.executable, "-c", _WORKER, str(store.path), code, str(after_s)], check=False, timeout=60
    )
    assert ended.returncode == -signal.SIGKILL


def count(store: Store, sql: str) -> int:
    return int(str(store.read(lambda conn: conn.execute(sql).get)))


def check_whole(store: Store) -> int:
    """Every moved memory has its rows, every other has none; how many were moved."""
    assert verify_log(store).problem is None
    moved = "SELECT count(*) FROM nodes n WHERE n.tier <> 'task'"
    unlike = (
        "SELECT count(*) FROM nodes n LEFT JOIN (SELECT node_id, to_tier, evolution_id, max(id) "
        "FROM td_promotion_log WHERE from_tier IS NOT to_tier GROUP BY node_id) l ON l.node_id = n.id "
        "LEFT JOIN evolution_log e ON e.id = l.evolution_id AND e.to_tier = l.to_tier "
        "WHERE coalesce(l.to_tier, 'task') IS NOT n.tier OR (l.to_tier IS NOT NULL AND e.id IS NULL)"
    )
    assert count(store, unlike) == 0
    assert count(store, "SELECT count(*) FROM evolution_log") == count(
        store, "SELECT count(*) FROM td_promotion_log WHERE from_tier IS NOT to_tier"
    )
    return count(store, moved)


@pytest.fixture
def ids(store: Store) -> list[str]:
    """Many candidates."""
    found = sorted(add_nodes(store, [NodeDraft(f"memory {n}") for n in range(MEMORIES)]))
    pull(store, found, times=2)
    return found


@pytest.mark.spec("SPEC-09.15", "SPEC-09.14")
def test_a_killed_run_leaves_each_memory_moved_and_logged_or_neither_and_can_be_gone_on_with(
    store: Store, ids: list[str]
) -> None:
    code = "approve(store, ids, rules=Rules(), actor='mara', pace=Pace(die_soon))"
    moved = 0
    for attempt in range(3):
        kill_in_the_middle(store, code, after_s=0.013 * attempt)
        killed = runs(store)[0]
        assert (killed.ended_at_ms, killed.planned) == (None, MEMORIES - moved)
        assert moved < check_whole(store) < MEMORIES
        moved = check_whole(store)
        assert sum(found.moved for found in runs(store)) == moved
    rest = approve(store, ids, rules=Rules(), actor="mara")
    assert len(rest.moved) == MEMORIES - moved
    assert check_whole(store) == MEMORIES
    assert runs(store)[0].ended_at_ms is not None


@pytest.mark.spec("SPEC-09.15")
def test_a_killed_undo_of_a_run_is_gone_on_with_by_the_same_call(store: Store, ids: list[str]) -> None:
    report = override_tier(store, ids, Tier.LONGTERM, actor="mara", reason="known good")
    assert report.run_id is not None
    code = f"undo_run(store, {report.run_id}, actor='mara', pace=Pace(die_soon))"
    kill_in_the_middle(store, code, after_s=0.02)
    left = check_whole(store)
    assert 0 < left < MEMORIES
    assert len(holds(store, now_ms=store.now_ms())) == left
    assert run(store, report.run_id + 1).ended_at_ms is None
    rest = undo_run(store, report.run_id, actor="mara")
    assert (len(rest.moved), rest.refused) == (left, ())
    assert check_whole(store) == 0
    assert holds(store, now_ms=store.now_ms()) == []


def test_the_store_of_a_killed_process_is_open_to_the_next_at_once(store: Store, ids: list[str]) -> None:
    code = "override_tier(store, ids, Tier.ARCHIVE, actor='mara', reason='all of them', pace=Pace(die_soon))"
    kill_in_the_middle(store, code, after_s=0.007)
    moved = check_whole(store)
    rest = override_tier(store, ids, Tier.ARCHIVE, actor="mara", reason="all of them", with_held=True)
    assert (len(rest.moved), len(rest.refused)) == (MEMORIES - moved, moved)
    assert {refused.why for refused in rest.refused} == {"it is in archive already"}
