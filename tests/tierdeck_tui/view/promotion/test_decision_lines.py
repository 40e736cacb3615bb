"""Criteria in words: what was found, what is needed, what is lacking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tierdeck.promote.rules import DAY_MS, Criterion, Facts, Rules, decide
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.promotion.decision_form import decision_form
from tierdeck_tui.view.promotion.decision_lines import (
    clock_note,
    criterion_lines,
    decision_lines,
    duration_words,
    found_words,
    lack_words,
    needed_words,
    rule_words,
    verdict,
)

NOW = 1_790_000_000_000


def said(facts: Facts) -> str:
    return verdict(decide(facts, Rules(), NOW))


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts("n", "task", max_pulls=1), "needs 1 more pull in one session"),
        (Facts("n", "task", max_pulls=2), "due"),
        (Facts("n", "task", max_pulls=2, block="held"), "held: no rule moves it"),
        (Facts("n", "task", max_pulls=0, block="held"), "needs 2 more pulls in one session (held)"),
        (Facts("n", "task", max_pulls=2, block="dismissed"), "dismissed: waits for new evidence"),
        (
            Facts("n", "session", sessions=2, successes=1, confidence_held=0.9),
            "needs 1 more session",
        ),
        (
            Facts("n", "session", sessions=3, successes=1, failures=3, confidence_held=0.9),
            "needs 2 more successes against 3 failed sessions",
        ),
        (
            Facts("n", "session", sessions=3, successes=1, confidence_held=0.75),
            "needs confidence 0.8 held",
        ),
        (Facts("n", "longterm", last_use_ms=NOW - 76 * DAY_MS), "is stale in 14 d 1 ms"),
        (Facts("n", "archive"), "needs 1 pull in the archive"),
        (Facts("n", "archive", pulls_since=1), "waits for a person, no rule moves it"),
        (Facts("n", "elsewhere"), "no rule is for its tier"),
    ],
)
def test_the_verdict_says_what_is_lacking(facts: Facts, expected: str) -> None:
    assert said(facts) == expected


def test_ninety_days_and_a_millisecond_do_not_round_into_ninety_days() -> None:
    [exact] = decide(Facts("n", "longterm", last_use_ms=NOW - 90 * DAY_MS), Rules(), NOW).criteria
    [beyond] = decide(Facts("n", "longterm", last_use_ms=NOW - 90 * DAY_MS - 1), Rules(), NOW).criteria
    assert (found_words(exact), needed_words(exact), exact.passed) == ("90 d", "> 90 d", False)
    assert (found_words(beyond), needed_words(beyond), beyond.passed) == ("90 d 1 ms", "> 90 d", True)
    assert lack_words(exact) == "is stale in 1 ms"
    assert lack_words(beyond) == ""


@given(days=st.integers(0, 400), off_ms=st.integers(-3, 3))
def test_the_words_of_days_unused_equal_those_of_the_limit_only_at_the_limit(days: int, off_ms: int) -> None:
    unused = max(0, days * DAY_MS + off_ms)
    criterion = Criterion("days unused", unused / DAY_MS, ">", days, unused > days * DAY_MS)
    assert (found_words(criterion) == needed_words(criterion).removeprefix("> ")) == (unused == days * DAY_MS)


def test_a_confidence_just_below_the_limit_does_not_read_as_the_limit() -> None:
    criterion = Criterion("confidence held", 0.79999999, ">=", 0.8, passed=False)
    assert found_words(criterion) == "0.79999999"
    assert needed_words(criterion) == "≥ 0.8"


@pytest.mark.parametrize(
    ("duration_ms", "expected"),
    [
        (0, "0 ms"),
        (-5, "0 ms"),
        (1, "1 ms"),
        (DAY_MS - 1, "23 h 59 min"),
        (13 * DAY_MS + 82_800_000, "13 d 23 h"),
        (1_234 * DAY_MS, "1,234 d"),
    ],
)
def test_a_duration_is_its_two_largest_units_rounded_down(duration_ms: int, expected: str) -> None:
    assert duration_words(duration_ms) == expected


@pytest.mark.spec("SPEC-09.11", "SPEC-09.12")
def test_each_criterion_has_a_line_with_sign_word_found_and_needed() -> None:
    facts = Facts("n", "session", sessions=2, successes=1, failures=0, confidence=0.9, confidence_held=0.9)
    lines = [text_of(each) for each in decision_lines(decide(facts, Rules(), NOW), 80)]
    assert lines[0] == "session → longterm: needs 1 more session"
    assert lines[1].split() == ["✗", "fail", "sessions", "2", "≥", "3", "████··", "needs", "1", "more", "session"]
    assert lines[2].split() == ["✓", "pass", "successes", "1", "≥", "1", "██████"]
    assert "no history" in lines[-1]


@pytest.mark.parametrize("cells", [40, 80, 120])
def test_no_line_is_wider_than_asked_for_when_there_is_room_for_the_columns(cells: int) -> None:
    facts = Facts("n", "longterm", last_use_ms=NOW - 3 * DAY_MS, future=("last pull", "last_accessed"))
    for each in decision_lines(decide(facts, Rules(), NOW), cells):
        assert cell_len(text_of(each)) <= max(cells, 58)


def test_a_criterion_that_another_program_wrote_into_the_log_is_shown_and_harms_no_terminal() -> None:
    odd = Criterion("\x1b]0;x\x07", float("nan"), "!", float("inf"), passed=False, note="\x1b[2J")  # type: ignore[arg-type]
    shown = "".join(text_of(each) for each in criterion_lines([odd], 80))
    assert "\x1b" not in shown
    assert "nan" in shown


def test_a_rule_is_named_by_its_step() -> None:
    assert rule_words("session-longterm") == "session → longterm"
    assert rule_words(None) == "–"


def test_times_in_the_future_are_named() -> None:
    assert clock_note(("last pull",)) == "clock: last pull in the future, taken as now"
    assert clock_note(()) == ""


def test_the_json_form_has_the_same_words() -> None:
    form = decision_form(decide(Facts("n", "task", max_pulls=1), Rules(), NOW))
    assert (form["passes"], form["is_due"], form["verdict"]) == (False, False, "needs 1 more pull in one session")
    assert form["criteria"] == [
        {
            "name": "pulls in one session",
            "found": 1,
            "comparison": ">=",
            "needed": 2,
            "passed": False,
            "lacks": 1,
            "words": "needs 1 more pull in one session",
            "note": "",
        }
    ]
