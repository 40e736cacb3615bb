"""The rules as a pure function and the set-based passes say the same of 10,000 random histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.tierdeck.promote.histories import MAKERS, NOW_MS, fill
from tests.tierdeck.promote.plain_facts import plain_facts
from tierdeck.promote import (
    Candidate,
    CandidatePage,
    Place,
    candidates,
    count_candidates,
    count_near,
    near,
    plan_sweep,
    what_if,
)
from tierdeck.promote.evidence.facts import read_facts
from tierdeck.promote.outlook.due_sql import NEAR_DAYS
from tierdeck.promote.rules import Decision, Facts, Rules, decide
from tierdeck.store import Store

MEMORIES = 1_700  # in each of six stores
TRACKED_DAYS = (20, 82, 400)
RULE_SETS = (
    Rules(),
    Rules(session_pulls=1, longterm_sessions=1, longterm_successes=0, longterm_confidence=0.5, archive_days=10),
    Rules(session_pulls=3, longterm_sessions=2, longterm_successes=2, longterm_confidence=0.9, archive_days=85),
    Rules(archive_days=14),
    Rules(archive_days=365),
)
each_rule_set = pytest.mark.parametrize("rules", RULE_SETS, ids=lambda rules: rules.version)


@pytest.fixture(scope="module", params=[(kind, days) for kind in MAKERS for days in TRACKED_DAYS], ids=str)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    kind, days = request.param
    with MAKERS[kind](tmp_path_factory.mktemp("histories") / "memory.db") as opened:
        fill(opened, seed=days, memories=MEMORIES, tracked_days=days)
        yield opened


@pytest.fixture(scope="module")
def facts(store: Store) -> dict[str, Facts]:
    return plain_facts(store, NOW_MS)


def decisions(facts: dict[str, Facts], rules: Rules) -> dict[str, Decision]:
    return {node_id: decide(found, rules, NOW_MS) for node_id, found in facts.items()}


def all_rows(page_of: Callable[[Place | None], CandidatePage]) -> list[Candidate]:
    """Every row, page by page."""
    rows: list[Candidate] = []
    page = page_of(None)
    while True:
        rows += page.rows
        if page.next is None:
            return rows
        page = page_of(page.next)


def is_near(decision: Decision) -> bool:
    if len(decision.lacking) != 1 or decision.block is not None:
        return False
    [lacking] = decision.lacking
    if decision.rule == "task-session":
        return (lacking.found or 0) >= 1
    if decision.rule == "longterm-archive":
        return lacking.lacks <= NEAR_DAYS
    return decision.rule == "session-longterm"


def by_rule(found: Iterator[Decision]) -> Counter[str]:
    return Counter(str(decision.rule) for decision in found)


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
@pytest.mark.case("P06", "P08")
def test_the_facts_read_by_sql_are_those_counted_by_hand_from_the_raw_rows(
    store: Store, facts: dict[str, Facts]
) -> None:
    assert len(facts) > MEMORIES * 0.95
    read = {found.node_id: found for found in read_facts(store, list(facts), NOW_MS)}
    assert {node_id: (read[node_id], facts[node_id]) for node_id in facts if read[node_id] != facts[node_id]} == {}


@each_rule_set
@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_the_candidates_are_those_that_the_pure_rules_pass(
    store: Store, facts: dict[str, Facts], rules: Rules
) -> None:
    expected = {i: d for i, d in decisions(facts, rules).items() if d.passes and d.block is None}
    rows = all_rows(lambda after: candidates(store, rules, NOW_MS, after=after, limit_rows=173))
    assert len(rows) == len({row.row.id for row in rows})
    assert {row.row.id: row.decision for row in rows} == expected
    assert by_rule(iter(expected.values())) == Counter(count_candidates(store, rules, NOW_MS))
    assert rows, "no history is a candidate: the generator shows nothing"


@each_rule_set
@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_those_near_are_those_that_lack_one_thing_by_the_pure_rules(
    store: Store, facts: dict[str, Facts], rules: Rules
) -> None:
    expected = {i: d for i, d in decisions(facts, rules).items() if is_near(d)}
    rows = all_rows(lambda after: near(store, rules, NOW_MS, after=after, limit_rows=173))
    assert len(rows) == len({row.row.id for row in rows})
    assert {row.row.id: row.decision for row in rows} == expected
    assert by_rule(iter(expected.values())) == +Counter(count_near(store, rules, NOW_MS))


@each_rule_set
@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_a_sweeps_plan_counts_what_the_pure_rules_say(store: Store, facts: dict[str, Facts], rules: Rules) -> None:
    plan = plan_sweep(store, rules, NOW_MS)
    said = [d for d in decisions(facts, rules).values() if d.rule not in (None, "archive-longterm")]
    assert +Counter(plan.due) == by_rule(d for d in said if d.is_due)
    assert plan.held == sum(d.passes and d.block == "held" for d in said)
    assert plan.dismissed == sum(d.passes and d.block == "dismissed" for d in said)
    assert +Counter(plan.rejections) == Counter(criterion.name for d in said for criterion in d.lacking)
    assert all(example.decision.is_due for example in plan.examples)


@pytest.mark.parametrize("other", RULE_SETS[1:], ids=lambda rules: rules.version)
@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_what_if_finds_the_difference_of_what_the_pure_rules_pass(
    store: Store, facts: dict[str, Facts], other: Rules
) -> None:
    found = what_if(store, Rules(), other, NOW_MS)
    now, then = (
        {i for i, d in decisions(facts, rules).items() if d.passes and d.block is None}
        for rules in (Rules(), other)
    )
    assert (sum(found.now.values()), sum(found.then.values())) == (len(now), len(then))
    assert (sum(found.gained_rows.values()), sum(found.lost_rows.values())) == (len(then - now), len(now - then))
    assert {row.row.id for row in found.gained} <= then - now
    assert {row.row.id for row in found.lost} <= now - then
    assert all(row.decision.rule_version == other.version for row in found.gained)
