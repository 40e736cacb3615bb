"""A memory's way through the tiers: two logs, and each move told once."""

from __future__ import annotations

from dataclasses import replace

from tests.tierdeck_tui.view.rows import NOW_MS
from tierdeck.model import TierMove
from tierdeck.promote.records import LogEntry
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.promotion.tier_history import foreign_moves, tier_history_lines

OURS = LogEntry(
    id=1,
    at_ms=NOW_MS,
    node_id="n",
    from_tier="session",
    to_tier="longterm",
    kind="override",
    rule=None,
    rule_version=None,
    criteria=(),
    actor="ann",
    reason="who to ask",
    run_id=None,
    content_digest=None,
    undoes=None,
    evolution_id=40,
)
SCHEMA_ROW = TierMove(NOW_MS - 9_000, "tier_transition", "task", "session", None, 38)
PROGRAM_ROW = TierMove(NOW_MS - 8_000, "promote", "task", "session", "confidence 0.92", 39)
OUR_ROW = TierMove(NOW_MS, "tier_transition", "session", "longterm", "override by ann: who to ask", 40)


def test_a_move_of_ours_is_not_told_again_from_the_family_s_log() -> None:
    lines = [text_of(line) for line in tier_history_lines([OURS], [OUR_ROW])]
    assert len(lines) == 1
    assert "#1 session → longterm  by hand, by ann · who to ask" in lines[0]


def test_the_two_rows_of_one_move_of_the_family_are_one_line_with_the_reason() -> None:
    [move] = foreign_moves([OURS], [SCHEMA_ROW, PROGRAM_ROW, OUR_ROW])
    assert (move.operation, move.reasoning) == ("promote", "confidence 0.92")
    [line] = [text_of(line) for line in tier_history_lines([], [SCHEMA_ROW, PROGRAM_ROW])]
    assert line.endswith("task → session  promote, not by tierdeck's rules  confidence 0.92")


def test_the_same_step_made_twice_at_different_times_is_two_moves() -> None:
    later = replace(PROGRAM_ROW, at_ms=NOW_MS, id=50)
    assert len(foreign_moves([], [SCHEMA_ROW, later])) == 2
    back = TierMove(NOW_MS - 8_500, "tier_transition", "session", "task", None, 39)
    assert len(foreign_moves([], [SCHEMA_ROW, back, replace(SCHEMA_ROW, at_ms=NOW_MS - 8_000, id=40)])) == 3


def test_both_logs_are_in_the_order_of_their_times_and_undone_moves_say_so() -> None:
    undo = replace(OURS, id=2, at_ms=NOW_MS + 5, kind="undo", from_tier="longterm", to_tier="session", undoes=1)
    lines = [text_of(line) for line in tier_history_lines([undo, OURS], [SCHEMA_ROW, PROGRAM_ROW])]
    assert [line.split("  ")[1].split()[0] for line in lines] == ["task", "#1", "#2"]
    assert lines[1].endswith("taken back")
    assert not lines[2].endswith("taken back")


def test_the_log_of_a_store_that_another_program_wrote_shows_times_it_can_not_read_first() -> None:
    odd = TierMove(None, "promote", "task", "session", None, 1)
    assert len(tier_history_lines([OURS], [odd])) == 2
    assert "task → session" in text_of(tier_history_lines([OURS], [odd])[0])
