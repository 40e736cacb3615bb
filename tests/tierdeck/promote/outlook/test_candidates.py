from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.tierdeck.promote.outlook.memories import START_MS, added
from tests.tierdeck.promote.pulls import pull
from tierdeck.errors import InvalidValueError, ReadOnlyStoreError
from tierdeck.model import AccessKind, NodeDraft, Tier
from tierdeck.promote import (
    archive_nodes,
    candidates,
    count_candidates,
    dismiss,
    hold,
    meet_session,
    near,
    plan_sweep,
    record_accesses,
    what_if,
    why,
)
from tierdeck.promote.rules import DAY_MS, RuleName, Rules
from tierdeck.store import Store, add_nodes, open_store

RULES = Rules()


def listed(store: Store, *, now_ms: int = START_MS, rule: RuleName | None = None) -> list[str]:
    return [row.row.id for row in candidates(store, RULES, now_ms, rule=rule).rows]


@pytest.mark.spec("SPEC-09.12")
def test_a_memory_pulled_twice_in_one_session_is_a_candidate_and_one_pulled_once_in_each_of_two_is_not(
    store: Store,
) -> None:
    twice, spread = added(store, 2)
    pull(store, [twice], times=2)
    pull(store, [spread], "s1")
    pull(store, [spread], "s2")
    [row] = candidates(store, RULES, START_MS).rows
    assert (row.row.id, row.decision.rule, row.decision.to_tier) == (twice, "task-session", Tier.SESSION)
    assert (row.row.excerpt, row.facts.max_pulls) == ("memory 0", 2)
    assert count_candidates(store, RULES, START_MS)["task-session"] == 1


@pytest.mark.spec("SPEC-09.10", "SPEC-09.12")
@pytest.mark.case("P01")
def test_sub_agents_of_one_session_count_as_that_session_and_make_no_candidate(store: Store) -> None:
    [node] = added(store, 1, Tier.SESSION)
    pull(store, [node], "s1", outcome="success")
    for child in ("s1/sub-a", "s1/sub-b"):
        met = meet_session(store, child, parent="s1")
        record_accesses(store, met.id, [node], AccessKind.PULL, outcome="success")
    assert listed(store) == []
    assert why(store, node, RULES, START_MS).facts.sessions == 1


@pytest.mark.spec("SPEC-09.10", "SPEC-09.11")
@pytest.mark.case("P02")
def test_pushes_make_no_candidate_however_many_and_both_numbers_show(store: Store) -> None:
    nodes = [*added(store, 1), *added(store, 1, Tier.SESSION)]
    for session in range(5):
        met = meet_session(store, f"s{session}")
        for _ in range(10):
            record_accesses(store, met.id, nodes, AccessKind.PUSH)
    assert listed(store) == []
    for node in nodes:
        explained = why(store, node, RULES, START_MS)
        assert (explained.accesses.pulls, explained.accesses.pushes) == (0, 50)


@pytest.mark.case("P18")
def test_an_archived_memory_is_in_no_list_until_it_is_pulled_again(store: Store) -> None:
    used, idle = added(store, 2)
    pull(store, [used, idle], times=3)
    archive_nodes(store, [used, idle], actor="mara", reason="done with it")
    assert (listed(store), near(store, RULES, START_MS).rows) == ([], ())
    pull(store, [used])
    [row] = candidates(store, RULES, START_MS).rows
    assert (row.row.id, row.decision.rule, row.decision.is_due) == (used, "archive-longterm", False)


@pytest.mark.spec("SPEC-09.11", "SPEC-09.15")
def test_a_held_and_a_dismissed_memory_are_no_candidates(store: Store) -> None:
    held, dismissed, free = added(store, 3)
    pull(store, [held, dismissed, free], times=2)
    hold(store, [held], actor="mara", reason="not yet")
    dismiss(store, [dismissed], actor="mara", rules=RULES)
    assert listed(store) == [free]
    pull(store, [dismissed])
    assert set(listed(store)) == {dismissed, free}


def test_candidates_come_by_tier_and_within_it_the_strongest_or_the_longest_unused_first(store: Store) -> None:
    weak, strong = added(store, 2)
    [kept] = added(store, 1, Tier.SESSION)
    longterm = add_nodes(
        store,
        [NodeDraft("old", tier=Tier.LONGTERM, last_accessed_ms=START_MS - days * DAY_MS) for days in (1, 3, 2)],
    )
    pull(store, [weak], times=2)
    pull(store, [strong], times=3)
    for session in ("s1", "s2", "s3"):
        pull(store, [kept], session, outcome="success")
    later = START_MS + 95 * DAY_MS
    assert listed(store, now_ms=later) == [strong, weak, kept, longterm[1], longterm[2], longterm[0]]
    assert listed(store, now_ms=later, rule="session-longterm") == [kept]
    assert list(count_candidates(store, RULES, later).values()) == [2, 1, 3, 0]


def test_pages_hold_each_candidate_once_also_when_the_page_before_was_moved(store: Store) -> None:
    tasks, longterm = added(store, 7), added(store, 6, Tier.LONGTERM)
    for node in tasks:
        pull(store, [node], times=2)
    later = START_MS + 95 * DAY_MS
    seen: list[str] = []
    page = candidates(store, RULES, later, limit_rows=3)
    while True:
        ids = [row.row.id for row in page.rows]
        assert len(ids) <= 3
        seen += ids
        archive_nodes(store, ids, actor="mara", reason="moved meanwhile")
        if page.next is None:
            break
        page = candidates(store, RULES, later, after=page.next, limit_rows=3)
    assert sorted(seen) == sorted([*tasks, *longterm])


def test_a_full_last_page_has_no_next_one(store: Store) -> None:
    pull(store, added(store, 4), times=2)
    assert candidates(store, RULES, START_MS, limit_rows=4).next is None
    assert candidates(store, RULES, START_MS, limit_rows=3).next is not None


def test_a_page_of_no_rows_is_refused(store: Store) -> None:
    with pytest.raises(InvalidValueError, match="0 rows is no limit"):
        candidates(store, RULES, START_MS, limit_rows=0)


@pytest.mark.case("P16")
def test_no_look_changes_a_row(store: Store) -> None:
    pull(store, [*added(store, 3), *added(store, 3, Tier.LONGTERM)], times=2)
    [archived] = added(store, 1, Tier.ARCHIVE)
    before = store.data_version()
    later = START_MS + 95 * DAY_MS
    candidates(store, RULES, later)
    near(store, RULES, later)
    plan_sweep(store, RULES, later)
    what_if(store, RULES, Rules(archive_days=30), later)
    why(store, archived, RULES, later)
    assert store.data_version() == before


@pytest.mark.spec("SPEC-09.10")
def test_another_programs_store_that_was_not_adopted_has_no_candidates_and_says_so(
    family_store_path: Path,
) -> None:
    with open_store(family_store_path) as foreign:
        for look in (candidates, near, plan_sweep, count_candidates):
            with pytest.raises(ReadOnlyStoreError, match="no accesses are recorded") as caught:
                look(foreign, RULES, START_MS)
            assert "adopt" in str(caught.value.hint)


def test_in_a_store_of_ours_every_list_is_read_along_an_index_and_nothing_is_sorted(store: Store) -> None:
    later = START_MS + 95 * DAY_MS
    plans: dict[str, str] = {}

    def explain_each(conn: apsw.Connection) -> None:
        statements: list[tuple[str, object]] = []

        def note(_: object, sql: str, values: object) -> bool:
            statements.append((sql, values))
            return True

        for look in (candidates, near):
            first = look(store, RULES, later, limit_rows=1)
            conn.exec_trace = note
            look(store, RULES, later, limit_rows=1)
            look(store, RULES, later, after=first.next, limit_rows=100)
            conn.exec_trace = None
        for sql, values in statements:
            if "LIMIT :limit_rows" in sql:
                rows = conn.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()  # type: ignore[arg-type]
                plans[sql] = "; ".join(str(row[3]) for row in rows)

    nodes = [*added(store, 2), *added(store, 2, Tier.SESSION), *added(store, 2, Tier.LONGTERM)]
    pull(store, nodes, times=2)
    store.read(explain_each)
    used = {
        index
        for index in (
            "td_facts_task", "td_facts_session", "td_nodes_idle", "td_facts_longterm", "td_facts_archive"
        )
        if any(f"USING INDEX {index}" in plan for plan in plans.values())
    }  # fmt: skip
    assert len(used) == 5
    assert [plan for plan in plans.values() if "TEMP B-TREE" in plan or "SCAN n" in plan] == []
