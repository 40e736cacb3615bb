from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tierdeck.checkpoint.folder import SessionInfo
from tierdeck.embed.coverage import Coverage
from tierdeck.model import NodeType, Tier
from tierdeck.promote.records import Run
from tierdeck.promote.rules import RuleName
from tierdeck.store import StoreCounts, StoreKind
from tierdeck_tui.reading.checkpoint_facts import CheckpointFacts
from tierdeck_tui.reading.console import MeaningState
from tierdeck_tui.reading.overview_facts import OverviewFacts
from tierdeck_tui.reading.promotion_facts import PromotionFacts
from tierdeck_tui.view.overview_lines import checkpoint_lines, meaning_lines, next_lines, promotion_lines, run_lines

NOW_MS = 1_790_000_000_000
HOUR_MS = 3_600_000
SWEEP = Run(3, "sweep", NOW_MS - 48 * HOUR_MS, NOW_MS - 47 * HOUR_MS, "ann", None, "1:2", 7, 7, 0, ())
OPEN_RUN = Run(9, "override", NOW_MS - HOUR_MS, None, "ann", "why", None, 3, 1, 0, ())
WAITING: Mapping[RuleName, int] = {
    "task-session": 2,
    "session-longterm": 4,
    "longterm-archive": 0,
    "archive-longterm": 1,
}


def facts(promotion: PromotionFacts | None, *, moved_holds: int = 0, sweep: Run | None = None) -> OverviewFacts:
    return OverviewFacts(
        shown_path="~/m.db",
        kind=StoreKind.OWN,
        access="rw",
        counts=StoreCounts(
            total=9, edges=0, by_tier=dict.fromkeys(Tier, 0), by_type=dict.fromkeys(NodeType, 0), unreadable=0
        ),
        store_bytes=1,
        index_bytes=1,
        created_at_ms=None,
        changed_at_ms=None,
        used_at_ms=None,
        sessions=1,
        checks=(),
        promotion=promotion,
        moved_holds=moved_holds,
        last_sweep=sweep,
    )


def promotion(*last_runs: Run) -> PromotionFacts:
    return PromotionFacts(
        candidates=WAITING,
        near={"task-session": 5},
        held=2,
        log_rows=1,
        runs=len(last_runs),
        last_runs=last_runs,
        by_day=(),
    )


def test_what_waits_is_told_by_rule_and_each_line_leads_there() -> None:
    lines = promotion_lines(facts(promotion(), moved_holds=1))
    assert [(line.label, line.value, line.tab, line.rule) for line in lines[:4]] == [
        ("task→session", "2", "candidates", "task-session"),
        ("session→longterm", "4", "candidates", "session-longterm"),
        ("longterm→archive", "0", "candidates", "longterm-archive"),
        ("archive→longterm", "1", "candidates", "archive-longterm"),
    ]
    assert [line.share for line in lines[:4]] == [0.5, 1.0, 0.0, 0.25]
    shown = {line.label: line for line in lines[4:]}
    assert (shown["nearly"].value, shown["nearly"].tab) == ("5 lack one thing", "near")
    assert (shown["log"].value, shown["log"].tab) == ("1 row", "log")
    assert shown["held, yet moved"].state == "warn"
    assert (shown["held"].tab, shown["held, yet moved"].tab) == ("held", "held")
    assert "held, yet moved" not in {line.label for line in promotion_lines(facts(promotion()))}


def test_the_last_sweep_stands_first_and_once_and_a_run_that_never_ended_is_marked() -> None:
    lines = run_lines(facts(promotion(OPEN_RUN, SWEEP), sweep=SWEEP), NOW_MS)
    assert [(line.label, line.value, line.state, line.tab) for line in lines] == [
        ("last sweep", "2d ago: moved 7 of 7", "plain", "runs"),
        ("#9 override", "1h ago: moved 1 of 3, not ended", "warn", "runs"),
    ]
    assert run_lines(facts(promotion()), NOW_MS)[0].value.startswith("never; `tierdeck sweep`")


def test_candidates_are_something_to_do_next() -> None:
    [line] = next_lines(facts(promotion()), MeaningState("ready", "a"), None)
    assert (line.label, line.value, line.tab) == ("waiting", "7 candidates for a move; 2 lists them", "candidates")


def checkpoints(**numbers: int) -> CheckpointFacts:
    info = SessionInfo("agent-7", Path("agent-7"), 3, 900, (NOW_MS - 3_600_000) * 1_000_000, "running")
    none = dict.fromkeys(("damaged", "newer", "unfinished", "problems"), 0)
    return CheckpointFacts(sessions=1, files=3, newest=info, running=1, **none | numbers)


def test_sound_checkpoints_are_two_lines_and_each_leads_to_their_screen() -> None:
    lines = checkpoint_lines(checkpoints(), NOW_MS)
    assert [(line.label, line.value) for line in lines] == [
        ("newest", "1h ago: agent-7"),
        ("sessions", "1, 1 running · 3 checkpoints"),
    ]
    assert all(line.opens_checkpoints and line.leads_on for line in lines)


def test_what_is_wrong_with_checkpoints_or_waits_is_a_line_each() -> None:
    lines = checkpoint_lines(checkpoints(damaged=2, newer=1, unfinished=3, problems=1), NOW_MS)
    assert [(line.label, line.value, line.state) for line in lines[2:]] == [
        ("unfinished", "3 operations", "warn"),
        ("damaged", "2 files", "bad"),
        ("newer version", "1 file", "warn"),
        ("can't be read", "1 session", "bad"),
    ]


def test_a_store_without_access_records_says_so() -> None:
    assert promotion_lines(facts(None))[0].label == run_lines(facts(None), NOW_MS)[0].label
    assert not any(line.leads_on for line in promotion_lines(facts(None)))


def test_what_has_no_vector_says_why() -> None:
    found = Coverage(1_418, embedded=400, pending=10, stale=1, failed=1_000, off=6, current_model="a-model")
    shown = {line.label: line.value for line in meaning_lines(MeaningState("ready", "a-model"), found)}
    assert shown["left out"] == "6 (embedding off, no text, or held back as a secret)"
    assert shown["embedded"] == "400 of 1,412"
    assert shown["waiting"] == "10"
    assert shown["refused"] == "1,000"


def test_what_is_not_there_takes_no_line() -> None:
    labels = [line.label for line in meaning_lines(MeaningState("ready", "a"), Coverage(3, 3, current_model="a"))]
    assert labels == ["state", "model", "embedded"]
