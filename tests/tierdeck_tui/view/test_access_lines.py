"""Accesses as lines: sub-agents belong to the session that sent them, and what a pull is worth is said."""

from __future__ import annotations

from tests.tierdeck_tui.view.rows import DAY_MS, NOW_MS
from tierdeck.model import Access, AccessKind, SessionRow
from tierdeck.store import AccessSummary
from tierdeck_tui.view.access_lines import access_lines
from tierdeck_tui.view.line import text_of

ROOT = SessionRow(1, "s-7", 1, 1, None, "harbor", "coder", NOW_MS, NOW_MS, "success")
SUB = SessionRow(2, "s-7.a", 1, 1, 1, None, "explorer", NOW_MS, None, None)
OTHER = SessionRow(3, "s-8", 1, 3, None, None, None, NOW_MS, None, None)
SUMMARY = AccessSummary(pulls=3, pushes=2, shown=1, roots=2)


def look(session: SessionRow, kind: AccessKind, days: int, outcome: str | None = None) -> Access:
    return Access("n", session, kind, outcome, NOW_MS - days * DAY_MS)


def shown(*looks: Access, count: int = 3, roots: dict[int, SessionRow] | None = None) -> list[str]:
    return [text_of(line).rstrip() for line in access_lines(SUMMARY, looks, count, 70, NOW_MS, roots=roots)]


def test_pulls_and_pushes_are_counted_apart_and_beside_what_other_programs_counted() -> None:
    lines = shown(look(ROOT, AccessKind.PULL, 1), count=1_204)
    assert lines[0] == "3 pulls in 2 sessions · 2 pushes · listed 1×"
    assert lines[1] == "pulls recorded 3 / count incl. other programs 1,204"


def test_a_sub_agent_stands_below_the_session_that_sent_it_and_shares_its_outcome() -> None:
    lines = shown(
        look(SUB, AccessKind.PULL, 2),
        look(OTHER, AccessKind.PUSH, 3),
        look(ROOT, AccessKind.PULL, 4),
        look(ROOT, AccessKind.PUSH, 4),
        look(ROOT, AccessKind.PUSH, 4),
    )
    assert lines[2:] == [
        "  4d  s-7  1 pull 2 pushes  harbor · coder  success",
        "  2d  └ s-7.a  1 pull  explorer  success",
        "  3d  s-8  1 push",
    ]


def test_a_session_that_only_its_sub_agents_looked_for_is_named_all_the_same() -> None:
    lines = shown(look(SUB, AccessKind.PULL, 2), roots={1: ROOT})
    assert lines[2:] == ["  2d  s-7  by sub-agents", "  2d  └ s-7.a  1 pull  explorer  success"]


def test_outcomes_of_single_looks_beat_the_session_and_are_counted_when_they_differ() -> None:
    lines = shown(
        look(ROOT, AccessKind.PULL, 1, "failure"),
        look(ROOT, AccessKind.PULL, 1, "failure"),
        look(ROOT, AccessKind.PULL, 1, "success"),
    )
    assert lines[2].endswith("  2 failure 1 success")
    assert shown(look(ROOT, AccessKind.PULL, 1, "failure"))[2].endswith("  failure")
