"""Previews of moves and sweeps, candidates, explanations: they fit 80 columns and harm no terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from tierdeck.model import NodeRow, NodeType, Tier
from tierdeck.promote.moves.override import OverridePreview, PlannedMove
from tierdeck.promote.outlook.candidate_page import Candidate
from tierdeck.promote.outlook.sweep_plan import SweepPlan
from tierdeck.promote.outlook.what_if import WhatIf
from tierdeck.promote.outlook.why import Explanation
from tierdeck.promote.records import Hold
from tierdeck.promote.rules import Facts, Rules, decide
from tierdeck.store import AccessSummary
from tierdeck_tui.view.explanation_lines import explanation_lines
from tierdeck_tui.view.line import Line, text_of
from tierdeck_tui.view.promotion.candidate_line import candidate_lines
from tierdeck_tui.view.promotion.move_preview_lines import override_preview_lines, sweep_plan_lines
from tierdeck_tui.view.promotion.what_if_lines import what_if_lines

NOW = 1_790_000_000_000
HOSTILE = "\x1b]0;owned\x07 sk-test-0000abcdefgh1234 \x9b2J " + "long text " * 30


def facts(node_id: str, tier: str = "session") -> Facts:
    return Facts(node_id, tier, sessions=1, failures=2, last_use_ms=NOW)


def row(node_id: str, text: str = HOSTILE) -> NodeRow:
    return NodeRow(node_id, NodeType.FACT, Tier.SESSION, 0.9, text, len(text), NOW, NOW, 3)


def planned(node_id: str) -> PlannedMove:
    return PlannedMove(node_id, "session", decide(facts(node_id), Rules(), NOW))


def candidate(node_id: str) -> Candidate:
    return Candidate(decide(facts(node_id), Rules(), NOW), facts(node_id), row(node_id))


def hold(node_id: str) -> Hold:
    return Hold(node_id, "session", NOW, None, "ops", HOSTILE, 1)


def plan(*, due: int = 2, why: str | None = None) -> SweepPlan:
    return SweepPlan(
        now_ms=NOW,
        rule_version="1",
        rules_seen=None,
        due={"task-session": due, "session-longterm": 0, "longterm-archive": 0},
        held=1,
        dismissed=0,
        rejections={"sessions": 40},
        tiers=dict.fromkeys(Tier, 10),
        is_first=True,
        needs_confirmation=why,
        examples=tuple(candidate(f"n{number}") for number in range(due)),
    )


def every_kind(cells: int) -> list[Line]:
    preview = OverridePreview(Tier.ARCHIVE, (planned("n1"), planned("n2")), (hold("n1"), hold("n3")), ("n4",))
    explained = Explanation(
        facts("n1"), decide(facts("n1"), Rules(), NOW), hold("n1"), (), AccessSummary(pulls=2, roots=2)
    )
    compared = WhatIf(
        {"task-session": 1}, {"task-session": 3}, (candidate("n1"),), (candidate("n2"),), {"task-session": 3},
        {"task-session": 1},
    )  # fmt: skip
    return [
        *override_preview_lines(preview, {"n1": row("n1")}, cells),
        *sweep_plan_lines(plan(why="it is the first sweep of this store " * 4), cells),
        *candidate_lines(row("n1"), decide(facts("n1"), Rules(), NOW), cells, NOW),
        *explanation_lines(explained, row("n1"), (), cells),
        *what_if_lines(compared, cells),
    ]


@pytest.mark.parametrize("cells", [80, 120])
def test_none_is_wider_than_the_screen(cells: int) -> None:
    assert [text_of(each) for each in every_kind(cells) if cell_len(text_of(each)) > cells] == []


@pytest.mark.case("X01")
def test_texts_and_reasons_are_made_safe_and_secrets_masked() -> None:
    text = "\n".join(text_of(each) for each in every_kind(80))
    assert not {"\x1b", "\x07", "\x9b"} & set(text)
    assert "0000abcd" not in text


def test_held_memories_are_told_apart_by_whether_they_move() -> None:
    preview = OverridePreview(Tier.ARCHIVE, (planned("n1"),), (hold("n1"), hold("n2")), ())
    text = [text_of(each) for each in override_preview_lines(preview, {})]
    assert "1 memory would move to archive" in text
    assert "1 memory held, and moved all the same" in text
    assert "1 memory held, and passed over" in text


def test_a_long_list_is_cut_and_counted() -> None:
    preview = OverridePreview(Tier.ARCHIVE, tuple(planned(f"n{number}") for number in range(30)), (), ())
    text = [text_of(each) for each in override_preview_lines(preview, {}, limit_rows=10)]
    assert text[-1] == "   and 20 more"


def test_the_examples_of_a_sweep_are_counted_against_all_that_would_move() -> None:
    many = replace(plan(), due={"task-session": 20, "session-longterm": 17, "longterm-archive": 0})
    assert "   and 35 more" in [text_of(each) for each in sweep_plan_lines(many)]
    assert not any(text_of(each).startswith("   and ") for each in sweep_plan_lines(plan()))


def test_a_sweep_says_how_many_by_rule_what_stays_and_why_it_wants_a_word() -> None:
    text = "\n".join(text_of(each) for each in sweep_plan_lines(plan(why="it is the first")))
    assert "2 memories would move" in text
    assert "        2  task → session" in text
    assert "        1  held, left as they are" in text
    assert "       40  sessions" in text
    assert "to be confirmed: it is the first" in text
    assert "nothing is due" in "\n".join(text_of(each) for each in sweep_plan_lines(plan(due=0)))
