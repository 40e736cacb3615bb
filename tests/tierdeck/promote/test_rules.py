"""The rules at their edges: what passes, what lacks how much, and what a clock that jumped does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tierdeck.config import PromotionSettings
from tierdeck.model import Tier
from tierdeck.promote.rules import DAY_MS, Decision, Facts, Rules, decide, rules_of

NOW = 1_796_040_000_000
RULES = Rules()
READY = Facts("n", "session", sessions=3, successes=1, confidence=0.8, confidence_held=0.8, has_history=True)


def lacking(decision: Decision) -> list[tuple[str, float]]:
    return [(criterion.name, criterion.lacks) for criterion in decision.lacking]


@pytest.mark.spec("SPEC-09.12")
@pytest.mark.parametrize(("pulls", "is_due"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_task_memory_moves_from_the_second_pull_within_one_session(pulls: int, is_due: bool) -> None:
    decision = decide(Facts("n", "task", max_pulls=pulls, sessions=10), RULES, NOW)
    assert (decision.rule, decision.to_tier, decision.is_due) == ("task-session", Tier.SESSION, is_due)
    assert lacking(decision) == ([] if is_due else [("pulls in one session", 2 - pulls)])


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_a_session_memory_that_just_meets_every_criterion_is_due() -> None:
    decision = decide(READY, RULES, NOW)
    assert (decision.rule, decision.to_tier, decision.is_due) == ("session-longterm", Tier.LONGTERM, True)
    assert [(c.name, c.found, c.comparison, c.needed) for c in decision.criteria] == [
        ("sessions", 3, ">=", 3),
        ("successes", 1, ">=", 1),
        ("failures", 0, "<=", 1),
        ("confidence held", 0.8, ">=", 0.8),
    ]


@pytest.mark.spec("SPEC-09.11")
@pytest.mark.parametrize(
    ("facts", "names"),
    [
        (replace(READY, sessions=2), ["sessions"]),
        (replace(READY, successes=0), ["successes"]),
        (replace(READY, successes=1, failures=1), []),
        (replace(READY, successes=2, failures=3), ["failures"]),
        (replace(READY, successes=0, failures=1), ["successes", "failures"]),
        (replace(READY, confidence_held=0.7999999), ["confidence held"]),
        (replace(READY, confidence_held=None), ["confidence held"]),
        (replace(READY, confidence=0.2), []),
    ],
)
def test_each_criterion_of_longterm_fails_by_itself(facts: Facts, names: list[str]) -> None:
    assert [criterion.name for criterion in decide(facts, RULES, NOW).lacking] == names


def test_a_confidence_without_history_passes_and_says_so() -> None:
    decision = decide(replace(READY, has_history=False), RULES, NOW)
    assert (decision.is_due, decision.criteria[-1].note) == (True, "no history")
    assert decide(READY, RULES, NOW).criteria[-1].note == ""


@pytest.mark.spec("SPEC-09.12")
@pytest.mark.parametrize(("unused_ms", "is_due"), [(0, False), (90 * DAY_MS, False), (90 * DAY_MS + 1, True)])
def test_a_longterm_memory_is_stale_one_millisecond_after_90_days(unused_ms: int, is_due: bool) -> None:
    decision = decide(Facts("n", "longterm", last_use_ms=NOW - unused_ms), RULES, NOW)
    assert (decision.rule, decision.to_tier, decision.is_due) == ("longterm-archive", Tier.ARCHIVE, is_due)
    assert decision.criteria[0].found == unused_ms / DAY_MS


@pytest.mark.case("P06")
@pytest.mark.parametrize("ahead_ms", [1, 10 * DAY_MS, 253_402_300_799_000 - NOW])
def test_a_use_in_the_future_counts_as_now_and_is_flagged(ahead_ms: int) -> None:
    facts = Facts("n", "longterm", confidence=0.9, last_use_ms=NOW + ahead_ms, future=("last accessed",))
    decision = decide(facts, RULES, NOW)
    [criterion] = decision.criteria
    assert (decision.is_due, criterion.found, criterion.note) == (False, 0, "clock: last accessed in the future")


@pytest.mark.spec("SPEC-09.12")
def test_an_archived_memory_is_a_candidate_when_pulled_again_and_never_moves_by_itself() -> None:
    assert not decide(Facts("n", "archive"), RULES, NOW).passes
    decision = decide(Facts("n", "archive", pulls_since=1), RULES, NOW)
    assert (decision.rule, decision.to_tier) == ("archive-longterm", Tier.LONGTERM)
    assert (decision.passes, decision.is_due) == (True, False)


def test_a_block_stops_a_move_whose_criteria_all_pass() -> None:
    held, dismissed = replace(READY, block="held"), replace(READY, block="dismissed")
    for facts in (held, dismissed):
        decision = decide(facts, RULES, NOW)
        assert (decision.passes, decision.is_due, decision.block) == (True, False, facts.block)


@pytest.mark.parametrize("tier", ["", "None", "Longterm", "keep"])
def test_a_tier_of_another_program_has_no_rule(tier: str) -> None:
    decision = decide(Facts("n", tier, max_pulls=9, sessions=9, successes=9), RULES, NOW)
    assert (decision.rule, decision.to_tier, decision.passes, decision.is_due) == (None, None, False, False)


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_the_rules_without_numbers_are_those_of_the_settings_without_any_and_of_the_specification() -> None:
    assert rules_of(PromotionSettings()) == Rules() == Rules(2, 3, 1, 0.8, 90)


def test_other_numbers_are_another_version_and_another_decision() -> None:
    settings = PromotionSettings(session_pulls=3, longterm_sessions=4, longterm_confidence=0.75, archive_days=30)
    rules = rules_of(settings)
    assert (RULES.version, rules.version) == ("1:2/3/1/0.8/90", "1:3/4/1/0.75/30")
    assert decide(Facts("n", "task", max_pulls=2), rules, NOW).lacking[0].lacks == 1
    assert decide(Facts("n", "longterm", last_use_ms=NOW - 31 * DAY_MS), rules, NOW).is_due
    assert decide(READY, rules, NOW).lacking[0].name == "sessions"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Rules(longterm_confidence=0.8), Rules(longterm_confidence=0.8000001)),
        (Rules(longterm_confidence=0.1), Rules(longterm_confidence=0.1 + 2**-54)),
        (Rules(archive_days=1_234_567), Rules(archive_days=1_234_568)),
    ],
    ids=["a confidence", "the next confidence there is", "days"],
)
def test_two_rule_sets_whose_numbers_differ_in_any_digit_have_two_versions(one: Rules, other: Rules) -> None:
    assert one != other
    assert one.version != other.version


def test_the_version_of_common_numbers_is_short() -> None:
    assert Rules(longterm_confidence=1.0).version == "1:2/3/1/1/90"
    assert Rules().version == "1:2/3/1/0.8/90"
