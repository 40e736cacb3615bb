"""What the Promotions screen says, without a screen: rows, status lines, times and filters as typed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from tests.tierdeck_tui.conftest import HOSTILE_TEXTS
from tests.tierdeck_tui.test_app import controls
from tests.tierdeck_tui.view.rows import NOW_MS, row
from tierdeck.promote.outlook.candidate_page import Candidate
from tierdeck.promote.records import Hold, LogEntry, LogFilter, Run
from tierdeck.promote.rules import DAY_MS, Facts, Rules, decide
from tierdeck_tui.reading.promotion_facts import PromotionFacts
from tierdeck_tui.reading.promotion_items import CandidateItem, HoldItem, Item, LogItem, RunItem
from tierdeck_tui.reading.run_undo import RunUndo
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.promotion import status as say
from tierdeck_tui.view.promotion.log_ask import LogAsk
from tierdeck_tui.view.promotion.row import ItemLook, item_lines, short_why
from tierdeck_tui.view.promotion.run_undo_lines import run_undo_lines
from tierdeck_tui.view.promotion.verdict_lines import verdict_lines
from tierdeck_tui.view.typed_time import future_time_ms, past_time_ms

PROVEN = Facts("aaaa1111", "session", max_pulls=2, sessions=4, successes=3, failures=1, confidence_held=0.85)
ENTRY = LogEntry(
    12, NOW_MS - DAY_MS, "aaaa1111", "task", "session", "auto", "task-session", "1:2", (), "agent", None, 3, None,
    None, None,
)  # fmt: skip
RUN = Run(3, "sweep", NOW_MS, NOW_MS + 5, "ops", "nightly", "1:2", 10, 8, 2, (("sessions", 12),))
FACTS = PromotionFacts({"task-session": 2}, {"session-longterm": 1}, 0, 12, 1, (), (("2026-11-29", 3),))


def candidate(facts: Facts = PROVEN, text: str = "a memory") -> CandidateItem:
    return CandidateItem(Candidate(decide(facts, Rules(), NOW_MS), facts, row(text)))


def shown(item: Item, cells: int = 80) -> str:
    return "\n".join(text_of(one) for one in item_lines(item, ItemLook(cells, NOW_MS)))


@pytest.mark.parametrize("cells", [20, 45, 58, 80, 140])
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_both_lines_of_every_kind_of_row_are_as_wide_as_asked_whatever_the_texts(text: str, cells: int) -> None:
    entry = replace(ENTRY, actor=text, reason=text, node_id=text, from_tier=text, to_tier=text)
    run = replace(RUN, actor=text, reason=text, rejections=((text, 3),))
    facts = replace(PROVEN, node_id=text)
    hold = Hold(text, text, NOW_MS, NOW_MS, text, text, 3, moved_to=text)
    for item in (
        candidate(facts, text),
        LogItem(entry, row(text)),
        LogItem(entry, None),
        RunItem(run),
        RunItem(run, 8),
        HoldItem(hold, row(text)),
        HoldItem(hold, None),
    ):
        for one in item_lines(item, ItemLook(cells, NOW_MS, is_cursor=True, is_marked=True)):
            assert cell_len(text_of(one)) == cells
            assert controls(text_of(one)) == []


def test_a_candidate_says_what_it_has_and_one_that_lacks_something_what_it_lacks() -> None:
    assert short_why(decide(PROVEN, Rules(), NOW_MS)) == "4 sessions, 3 successes, 1 failure, held 0.85"
    unused = Facts("b", "longterm", last_use_ms=NOW_MS - 95 * DAY_MS)
    assert short_why(decide(unused, Rules(), NOW_MS)) == "unused 95 days"
    assert short_why(decide(Facts("c", "task", max_pulls=3), Rules(), NOW_MS)) == "3 pulls in one session"
    back = Facts("d", "archive", pulls_since=1)
    assert short_why(decide(back, Rules(), NOW_MS)) == "1 pull in the archive"
    two = replace(PROVEN, sessions=2, successes=2)
    assert short_why(decide(two, Rules(), NOW_MS)) == "needs 1 more session"
    assert short_why(decide(replace(PROVEN, block="held"), Rules(), NOW_MS)).startswith("held: 4 sessions")


def test_a_row_of_the_log_tells_the_rules_doing_from_a_persons() -> None:
    assert "task → session  by the rules" in shown(LogItem(ENTRY, row()))
    by_hand = replace(ENTRY, kind="override", actor="ann", reason="worth it")
    assert "by hand, by ann" in shown(LogItem(by_hand, row()))
    assert "“worth it”" in shown(LogItem(by_hand, row()))
    assert "approved by ann" in shown(LogItem(replace(by_hand, kind="approve"), row()))
    assert "taken back" in shown(LogItem(ENTRY, row(), is_undone=True))
    assert "the memory is gone" in shown(LogItem(ENTRY, None))


def test_a_run_that_did_not_end_says_so_and_what_the_others_lacked() -> None:
    assert "moved 8 of 10, 2 refused" in shown(RunItem(RUN))
    assert "lacked: sessions 12" in shown(RunItem(RUN))
    assert "not ended" in shown(RunItem(replace(RUN, ended_at_ms=None)))
    assert "not ended" not in shown(RunItem(RUN))


def test_the_line_above_a_list_counts_by_rule_or_one_rule_only() -> None:
    counts = FACTS.candidates
    assert text_of(say.by_rule_status(counts, None, is_near=False)) == "2 memories wait · task → session 2"
    short = text_of(say.by_rule_status(counts, None, is_near=False, is_short=True))
    assert short == "2 wait · t→s 2"
    only = text_of(say.by_rule_status(counts, "session-longterm", is_near=False))
    assert only == "0 memories wait · only session → longterm (x drops it)"
    assert text_of(say.by_rule_status(None, None, is_near=True)) == "counting…"
    assert say.tab_numbers(FACTS) == {"candidates": "2", "near": "1", "log": "12", "runs": "1", "held": "0"}
    assert "3 moves in 30 days" in text_of(say.spark_line(FACTS))


def test_many_candidates_in_a_dialog_are_counted_after_the_first() -> None:
    lines = [text_of(one) for one in verdict_lines([candidate().candidate] * 7, 60, limit_rows=2)]
    assert lines[0].strip() == "3f2a9c1e  session → longterm: due"
    assert lines[-1] == "and 5 more"
    assert all(cell_len(one) <= 60 for one in lines)


def test_undoing_a_run_says_what_stands_what_is_refused_and_what_was_not_looked_at() -> None:
    preview = RunUndo(3, 250, (ENTRY,), (replace(ENTRY, id=11, node_id="bbbb2222"),))
    lines = "\n".join(text_of(one) for one in run_undo_lines(preview, 60))
    assert "1 row would be taken back" in lines
    assert "1 row would be refused: something happened since" in lines
    assert "the run's 248 other rows" in lines


def test_what_is_asked_of_the_log_becomes_its_filter() -> None:
    ask = LogAsk(actor="ann", tier="Session", kind="ov", rule="task", since="7d", until="2026-01-31", run=4)
    meant = ask.meaning(NOW_MS)
    assert meant == LogFilter(
        actor="ann",
        tier="session",
        kind="override",
        rule="task-session",
        run_id=4,
        since_ms=NOW_MS - 7 * DAY_MS,
        until_ms=round(datetime(2026, 2, 1, tzinfo=UTC).timestamp() * 1000),
    )
    assert ask.chips == (
        "run:4", "by:ann", "tier:Session", "kind:ov", "rule:task", "since:7d", "until:2026-01-31",
    )  # fmt: skip
    assert LogAsk().meaning(NOW_MS) == LogFilter()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (LogAsk(kind="x"), "none of auto, approve"),
        (LogAsk(kind="a"), "none of auto, approve"),
        (LogAsk(rule="up"), "task-session"),
        (LogAsk(since="soon"), "since takes an age or a day"),
    ],
)
def test_what_the_log_can_not_be_asked_is_said_with_the_choices(ask: LogAsk, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ask.meaning(NOW_MS)


def test_the_end_of_a_hold_is_a_span_or_a_day_and_lies_ahead() -> None:
    assert future_time_ms("", NOW_MS) is None
    assert future_time_ms(" 2W ", NOW_MS) == NOW_MS + 14 * DAY_MS
    day = datetime.fromtimestamp(NOW_MS / 1000, UTC).date()
    assert future_time_ms(f"{day.year + 1}-01-31", NOW_MS) == round(
        datetime(day.year + 1, 1, 31, tzinfo=UTC).timestamp() * 1000
    )
    for wrong in ("14", "soon", "1970-01-01", "0d", "d"):
        with pytest.raises(ValueError, match="takes"):
            future_time_ms(wrong, NOW_MS)
    assert past_time_ms("since", " ", NOW_MS) is None
