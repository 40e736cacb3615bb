from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.tierdeck.promote.lasting import lasting, shadow_digest
from tests.tierdeck.promote.pulls import pull
from tierdeck.errors import ConflictError
from tierdeck.maintenance import adopt
from tierdeck.model import NodeDraft, NodeFilter, Tier
from tierdeck.promote import (
    LogFilter,
    Pace,
    apply_sweep,
    candidates,
    count_entries,
    hold,
    override_tier,
    plan_sweep,
    runs,
    verify_log,
    why,
)
from tierdeck.promote.rules import DAY_MS, Rules
from tierdeck.store import Store, add_nodes, count_nodes, counts, open_store

RULES = Rules()
START_MS = 1_780_000_000_000
LATER_MS = START_MS + 100 * DAY_MS


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory.db", create=True, clock=lambda: START_MS) as opened:
        yield opened


def added(
    store: Store, count: int, tier: Tier = Tier.TASK, *, confidence: float = 0.9, used_ms: int = START_MS
) -> list[str]:
    return add_nodes(
        store,
        [NodeDraft(f"m{n}", tier=tier, confidence=confidence, last_accessed_ms=used_ms) for n in range(count)],
    )


def tiers(store: Store) -> dict[str, int]:
    return {tier.value: rows for tier, rows in counts(store).by_tier.items() if rows}


def had_first_sweep(store: Store) -> None:
    """A sweep that was confirmed and ended."""
    [node] = added(store, 1)
    pull(store, [node], times=2)
    report = apply_sweep(store, plan_sweep(store, RULES, START_MS), rules=RULES, actor="mara", confirmed=True)
    assert report.moved == (node,)
    assert not plan_sweep(store, RULES, START_MS).is_first


@pytest.mark.spec("SPEC-09.12")
@pytest.mark.case("P11")
def test_of_a_hundred_idle_for_sixty_days_none_moves_and_of_those_older_all_but_the_held_show_first(
    store: Store,
) -> None:
    longterm = added(store, 100, Tier.LONGTERM)
    hold(store, longterm[:10], actor="mara", reason="important")
    assert plan_sweep(store, RULES, START_MS + 60 * DAY_MS).due_rows == 0
    plan = plan_sweep(store, RULES, LATER_MS)
    assert (plan.due["longterm-archive"], plan.held, plan.longterm_rows) == (90, 10, 100)
    assert "90 of 100 longterm memories, 90 %" in str(plan.needs_confirmation)
    assert {row.row.id for row in plan.examples} < set(longterm[10:])
    assert tiers(store) == {"longterm": 100}
    apply_sweep(store, plan, rules=RULES, actor="mara", confirmed=True)
    assert tiers(store) == {"longterm": 10, "archive": 90}
    assert {why(store, node, RULES, LATER_MS).facts.tier for node in longterm[:10]} == {"longterm"}


@pytest.mark.spec("SPEC-09.12")
@pytest.mark.case("P13")
def test_the_first_sweep_of_an_old_store_moves_and_deletes_nothing_unasked(family_store_path: Path) -> None:
    began = []
    adopt(family_store_path)
    with open_store(family_store_path) as store:
        now = store.now_ms() + 100 * DAY_MS
        before = tiers(store), lasting(store)
        plan = plan_sweep(store, RULES, now)
        assert plan.due["longterm-archive"] == plan.longterm_rows == 2
        assert plan.needs_confirmation is not None
        with pytest.raises(ConflictError, match="it is the first sweep of this store") as caught:
            apply_sweep(store, plan, rules=RULES, actor="cron", pace=Pace(lambda *at: began.append(at)))
        assert "--apply" in str(caught.value.hint)
        assert (tiers(store), lasting(store)) == before
        assert (runs(store), count_entries(store, LogFilter()), began) == ([], 0, [])
        apply_sweep(store, plan, rules=RULES, actor="mara", confirmed=True)
        assert lasting(store) == before[1]
        assert count_nodes(store, NodeFilter(include_archived=True)) == sum(before[0].values())


@pytest.mark.spec("SPEC-09.12")
def test_after_the_first_sweep_one_that_archives_up_to_a_tenth_needs_no_word(store: Store) -> None:
    had_first_sweep(store)
    added(store, 1, Tier.LONGTERM)
    added(store, 9, Tier.LONGTERM, used_ms=LATER_MS)
    plan = plan_sweep(store, RULES, LATER_MS)
    assert (plan.due["longterm-archive"], plan.needs_confirmation) == (1, None)
    assert len(apply_sweep(store, plan, rules=RULES, actor="cron").moved) == 1


@pytest.mark.spec("SPEC-09.12")
def test_after_the_first_sweep_one_that_archives_more_than_a_tenth_must_be_confirmed(store: Store) -> None:
    had_first_sweep(store)
    added(store, 2, Tier.LONGTERM)
    added(store, 9, Tier.LONGTERM, used_ms=LATER_MS)
    plan = plan_sweep(store, RULES, LATER_MS)
    with pytest.raises(ConflictError, match="would archive 2 of 11 longterm memories, 18 %"):
        apply_sweep(store, plan, rules=RULES, actor="cron")
    assert tiers(store) == {"session": 1, "longterm": 11}


@pytest.mark.spec("SPEC-09.12")
def test_a_sweep_moves_each_memory_one_step_and_the_next_one_the_next(store: Store) -> None:
    [node] = added(store, 1)
    for session in ("s1", "s2", "s3"):
        pull(store, [node], session, times=2, outcome="success")
    first = apply_sweep(store, plan_sweep(store, RULES, START_MS), rules=RULES, actor="mara", confirmed=True)
    assert (first.moved, tiers(store)) == ((node,), {"session": 1})
    apply_sweep(store, plan_sweep(store, RULES, START_MS), rules=RULES, actor="mara")
    assert tiers(store) == {"longterm": 1}


@pytest.mark.spec("SPEC-09.13", "SPEC-09.14")
@pytest.mark.parametrize("is_adopted", [False, True], ids=["own", "adopted"])
def test_many_memories_move_in_short_transactions_each_logged_and_nothing_else_changes(
    store: Store, family_store_path: Path, is_adopted: bool
) -> None:
    adopt(family_store_path)
    with open_store(family_store_path) as family:
        swept = family if is_adopted else store
        now = swept.now_ms() + 100 * DAY_MS
        added(swept, 450, Tier.LONGTERM, used_ms=swept.now_ms())
        pull(swept, added(swept, 250), times=2)
        before, shadow = lasting(swept), shadow_digest(swept)
        plan, progress = plan_sweep(swept, RULES, now), list[tuple[int, int]]()
        report = apply_sweep(
            swept, plan, rules=RULES, actor="mara", confirmed=True,
            pace=Pace(lambda done, total: progress.append((done, total)), pause_ms=0),
        )  # fmt: skip
        assert plan.due_rows == len(report.moved) == len(set(report.moved)) >= 700
        assert report.refused == ()
        assert progress[-1] == (plan.due_rows, plan.due_rows)
        assert max(b[0] - a[0] for a, b in zip([(0, 0), *progress], progress, strict=False)) == 200
        [run] = runs(swept)
        assert (run.id, run.planned, run.moved, run.refused) == (report.run_id, plan.due_rows, plan.due_rows, 0)
        assert dict(run.rejections) == plan.rejections
        assert count_entries(swept, LogFilter(run_id=run.id)) == plan.due_rows
        assert verify_log(swept).problem is None
        assert (lasting(swept), shadow_digest(swept)) == (before, shadow)
        assert plan_sweep(swept, RULES, now).due_rows == 0


@pytest.mark.spec("SPEC-09.12")
def test_what_changed_since_the_plan_stays_where_it_is(store: Store) -> None:
    used, held, moved, stale = added(store, 4, Tier.LONGTERM)
    plan = plan_sweep(store, RULES, LATER_MS)
    with store.writing() as conn:
        conn.execute("UPDATE nodes SET last_accessed = ? WHERE id = ?", (LATER_MS, used))
    hold(store, [held], actor="mara", reason="not this one")
    override_tier(store, [moved], Tier.TASK, actor="mara", reason="back to the start", hold=False)
    report = apply_sweep(store, plan, rules=RULES, actor="mara", confirmed=True)
    assert report.moved == (stale,)
    assert tiers(store) == {"task": 1, "longterm": 2, "archive": 1}


@pytest.mark.spec("SPEC-09.12")
def test_what_became_due_since_a_plan_that_found_nothing_waits_for_the_next_plan(store: Store) -> None:
    [node] = added(store, 1)
    plan = plan_sweep(store, RULES, START_MS)
    assert (plan.due_rows, plan.needs_confirmation) == (0, None)
    pull(store, [node], times=2)
    report = apply_sweep(store, plan, rules=RULES, actor="cron")
    assert (report.run_id, report.moved, tiers(store)) == (None, (), {"task": 1})
    assert plan_sweep(store, RULES, START_MS).is_first


@pytest.mark.spec("SPEC-09.12")
def test_other_rules_put_in_force_since_the_plan_stop_it_before_it_begins(store: Store) -> None:
    added(store, 3, Tier.LONGTERM)
    plan = plan_sweep(store, RULES, LATER_MS)
    other = Rules(archive_days=30)
    with pytest.raises(ConflictError, match="it was planned by the rules"):
        apply_sweep(store, plan, rules=other, actor="mara", confirmed=True)
    pull(store, added(store, 1), times=2)
    apply_sweep(store, plan_sweep(store, other, START_MS), rules=other, actor="mara", confirmed=True)
    with pytest.raises(ConflictError, match=f"the rules changed since the plan: None → {other.version}"):
        apply_sweep(store, plan, rules=RULES, actor="mara", confirmed=True)
    assert tiers(store) == {"session": 1, "longterm": 3}


@pytest.mark.spec("SPEC-09.12")
def test_rules_that_change_under_way_end_the_sweep_and_the_rest_is_told(store: Store) -> None:
    added(store, 500, Tier.LONGTERM)

    def change(done: int, _total: int) -> None:
        if done == 200:
            with store.writing() as conn:
                conn.execute("UPDATE td_setting SET value = 'other' WHERE key = 'promotion_rules'")

    plan = plan_sweep(store, RULES, LATER_MS)
    report = apply_sweep(store, plan, rules=RULES, actor="mara", confirmed=True, pace=Pace(change, pause_ms=0))
    assert (len(report.moved), len(report.refused)) == (200, 200)
    assert report.refused[0].why == f"the rules changed since: {RULES.version} → other"
    assert tiers(store) == {"archive": 200, "longterm": 300}


@pytest.mark.spec("SPEC-09.12")
def test_a_sweep_that_is_asked_to_stop_says_what_it_moved_and_the_next_goes_on(store: Store) -> None:
    added(store, 450, Tier.LONGTERM)
    done: list[int] = []
    first = apply_sweep(
        store, plan_sweep(store, RULES, LATER_MS), rules=RULES, actor="mara", confirmed=True,
        pace=Pace(lambda at, _total: done.append(at), lambda: bool(done), pause_ms=0),
    )  # fmt: skip
    assert len(first.moved) == 200
    [run] = runs(store)
    assert (run.moved, run.planned, run.ended_at_ms) == (200, 450, START_MS)
    second = apply_sweep(
        store, plan_sweep(store, RULES, LATER_MS), rules=RULES, actor="mara", confirmed=True, pace=Pace(pause_ms=0)
    )
    assert len(second.moved) == 250
    assert tiers(store) == {"archive": 450}


_KILLED = """
import sys
from tierdeck.promote import Pace, apply_sweep, plan_sweep
from tierdeck.promote.rules import Rules
from tierdeck.store import open_store
path, now = sys.argv[1], int(sys.argv[2])
with open_store(path, clock=lambda: now) as store:
    plan = plan_sweep(store, Rules(), now)
    apply_sweep(store, plan, rules=Rules(), actor="cron", confirmed=True,
                pace=Pace(lambda done, total: print(done, flush=True), pause_ms=5))
"""


@pytest.mark.spec("SPEC-09.12", "SPEC-09.14")
def test_a_killed_sweep_leaves_each_memory_moved_and_logged_or_neither_and_the_next_must_be_confirmed_again(
    store: Store,
) -> None:
    added(store, 3_000, Tier.LONGTERM)
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(store.path), str(LATER_MS)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "200\n"
        child.kill()
    moved = tiers(store)["archive"]
    assert 200 <= moved < 3_000
    with closing(sqlite3.connect(store.path)) as conn:
        archived = {row[0] for row in conn.execute("SELECT id FROM nodes WHERE tier = 'archive'")}
        ours = [row[0] for row in conn.execute("SELECT node_id FROM td_promotion_log")]
        theirs = [json.loads(row[0])[0] for row in conn.execute("SELECT node_ids FROM evolution_log")]
    assert sorted(ours) == sorted(theirs) == sorted(archived)
    assert verify_log(store).problem is None
    [run] = runs(store)
    assert (run.moved, run.ended_at_ms) == (moved, None)
    plan = plan_sweep(store, RULES, LATER_MS)
    assert (plan.is_first, plan.due_rows) == (True, 3_000 - moved)
    apply_sweep(store, plan, rules=RULES, actor="mara", confirmed=True, pace=Pace(pause_ms=0))
    assert tiers(store) == {"archive": 3_000}


@pytest.mark.case("P06")
def test_a_use_in_the_future_is_never_stale(store: Store) -> None:
    ids = added(store, 3, Tier.LONGTERM, used_ms=LATER_MS + 10 * DAY_MS)
    with store.writing() as conn:
        for node, year_9999 in zip(ids[1:], ("9999-12-31T23:59:59Z", 253_402_300_799_000), strict=True):
            conn.execute("UPDATE nodes SET last_accessed = ? WHERE id = ?", (year_9999, node))
    assert plan_sweep(store, RULES, LATER_MS).due_rows == 0
    assert {why(store, node, RULES, LATER_MS).facts.future for node in ids} == {("last accessed",)}
    assert {why(store, node, RULES, LATER_MS).facts.confidence for node in ids} == {0.9}


@pytest.mark.case("P08")
def test_times_written_in_five_ways_are_all_compared_as_one_moment(store: Store) -> None:
    # 2026-06-01T10:00 UTC, ninety days and a millisecond before the moment looked at.
    wrote = ("2026-06-01T10:00:00", "2026-06-01T19:00:00+09:00", "2026-06-01T10:00:00Z", 1780308000, 1780308000000)
    ids = added(store, len(wrote), Tier.LONGTERM)
    stale = 1_780_308_000_000 + 90 * DAY_MS
    with store.writing() as conn:
        for node, value in zip(ids, wrote, strict=True):
            conn.execute("UPDATE nodes SET last_accessed = ? WHERE id = ?", (value, node))
    assert plan_sweep(store, RULES, stale).due_rows == 0
    assert {row.row.id for row in candidates(store, RULES, stale + 1).rows} == set(ids)
