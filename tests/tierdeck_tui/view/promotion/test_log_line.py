"""Rows of the promotion log, runs and holds as lines: who, what, why, and nothing that a terminal obeys."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from tests.tierdeck_tui.view.rows import row as make_row
from tierdeck.promote.records import Hold, LogEntry, Refused, Run, RunReport
from tierdeck.promote.rules import Criterion
from tierdeck_tui.view.line import Line, text_of
from tierdeck_tui.view.promotion.hold_line import hold_lines, hold_words
from tierdeck_tui.view.promotion.log_line import deed_words, entry_lines, history_line, log_lines
from tierdeck_tui.view.promotion.run_line import report_lines, report_words, run_lines

AT = 1_790_000_000_000
ENTRY = LogEntry(
    id=12,
    at_ms=AT,
    node_id="aaaa1111-0000-4000-8000-000000000001",
    from_tier="task",
    to_tier="session",
    kind="auto",
    rule="task-session",
    rule_version="1:2/3/1/0.8/90",
    criteria=(Criterion("pulls in one session", 3, ">=", 2, passed=True),),
    actor="coder",
    reason=None,
    run_id=3,
    content_digest="ab" * 32,
    undoes=None,
    evolution_id=None,
)
RUN = Run(3, "sweep", AT, AT + 12_345, "ops", "nightly", "1:2/3", 130, 120, 2, (("sessions", 40),))
HOLD = Hold("aaaa1111-0000", "session", AT, None, "ops", "keep it", 4)


def shown(*lines: Line) -> str:
    return "\n".join(text_of(each) for each in lines)


@pytest.mark.spec("SPEC-09.14")
def test_a_row_says_when_which_memory_what_by_whom_and_by_which_rule() -> None:
    text = shown(*log_lines(ENTRY, None))
    for part in (
        "#12",
        "2026-09-21",
        "+00:00",
        "aaaa1111",
        "task → session",
        "by the rules, run by coder",
        "run 3",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (ENTRY, "task → session"),
        (replace(ENTRY, kind="hold", to_tier="task"), "held in task"),
        (replace(ENTRY, kind="release", to_tier="task"), "released in task"),
        (replace(ENTRY, kind="dismiss", to_tier="task"), "dismissed in task"),
        (replace(ENTRY, kind="undo", undoes=4), "took back #4: task → session"),
        (replace(ENTRY, kind="undo", undoes=4, to_tier="task"), "took back #4: in task"),
        (replace(ENTRY, from_tier=None), "– → session"),
    ],
)
def test_what_happened_is_said_in_words(entry: LogEntry, expected: str) -> None:
    assert deed_words(entry) == expected


def test_a_row_that_was_taken_back_says_so() -> None:
    assert "taken back" in shown(*log_lines(ENTRY, None, is_undone=True))
    assert "taken back" in shown(history_line(ENTRY, is_undone=True))
    assert "taken back" not in shown(*log_lines(ENTRY, None))


def test_everything_that_the_row_keeps_is_shown_with_its_criteria() -> None:
    lines = entry_lines(ENTRY)
    text = shown(*lines)
    assert "rules 1:2/3/1/0.8/90" in text
    assert "✓ pass pulls in one session" in text
    assert ENTRY.node_id in text
    assert all(cell_len(text_of(each)) <= 80 for each in lines)


@pytest.mark.parametrize("cells", [20, 60, 80])
def test_rows_of_a_list_are_exactly_as_wide_as_asked_for(cells: int) -> None:
    rows = (*log_lines(ENTRY, None, cells), *run_lines(RUN, cells), *hold_lines(HOLD, cells))
    assert {cell_len(text_of(each)) for each in rows} == {cells}


@pytest.mark.case("X01")
def test_a_hostile_actor_reason_and_secret_are_made_safe() -> None:
    odd = replace(ENTRY, actor="\x1b]0;x\x07", reason="sk-test-0000abcdefgh1234 \x1b[2J‮", node_id="\x1b[31m")
    refused = Refused("\x1b[31m", "\x1b[2J", "\x9b0m")
    text = shown(
        *log_lines(odd, None), history_line(odd), *entry_lines(odd), *report_lines(RunReport(1, (), (refused,))),
        *run_lines(replace(RUN, actor="\x1b[2J", reason="\x1b]52;x")), *hold_lines(replace(HOLD, reason="\x1b[2J")),
    )  # fmt: skip
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert "0000abcd" not in text


def test_a_run_says_how_many_moved_and_whether_it_ended() -> None:
    assert "moved 120 of 130, 2 refused" in shown(*run_lines(RUN))
    assert "  in 12 s" in shown(*run_lines(RUN))
    assert " in " not in shown(*run_lines(replace(RUN, ended_at_ms=AT)))
    assert "lacked: sessions 40" in shown(*run_lines(RUN, 120))
    assert "not ended" in shown(*run_lines(replace(RUN, ended_at_ms=None), 120))


def test_a_report_counts_and_lists_what_was_refused() -> None:
    report = RunReport(7, ("a", "b"), tuple(Refused(f"node-{n}", "it is held by ops", "task") for n in range(25)))
    assert report_words(report, "approved") == "approved 2 memories, 25 refused (run 7)"
    lines = [text_of(each) for each in report_lines(report)]
    assert lines[1] == "  node-0    it is held by ops; it is in task"
    assert lines[-1] == "  and 5 more"
    assert len(lines) == 22


def test_a_hold_says_by_whom_until_when_and_that_another_program_moved_the_memory() -> None:
    assert hold_words(HOLD) == "held in session since 2026-09-21 14:13:20 +00:00, without end, by ops: keep it"
    moved = replace(HOLD, until_ms=AT + 1_000, moved_to="archive")
    assert "until 2026-09-21 14:13:21 +00:00" in hold_words(moved)
    assert "moved to archive by another program" in shown(*hold_lines(moved, 120))


def test_a_run_that_was_taken_back_is_marked_so_and_one_in_part_says_how_far() -> None:
    assert "taken back" not in shown(*run_lines(RUN))
    assert "moved 120 of 130, 2 refused  taken back" in shown(*run_lines(RUN, undone=120))
    assert "  3 of 120 taken back" in shown(*run_lines(RUN, 120, undone=3))


def test_a_row_shows_how_its_memory_begins_or_that_it_is_gone() -> None:
    row = make_row("deploys use blue green switching")
    assert "   deploys use blue green switching" in shown(*log_lines(ENTRY, row))
    assert "the memory is gone" in shown(*log_lines(ENTRY, None))
    assert "digest of text and metadata abab" in shown(*entry_lines(ENTRY))
