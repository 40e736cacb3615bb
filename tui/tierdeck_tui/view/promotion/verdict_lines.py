"""Candidates in a dialog: each one's step, what the rules say, and how its text begins. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.promote.outlook.candidate_page import Candidate
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import count
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.promotion.decision_lines import rule_words, verdict
from tierdeck_tui.view.safe_text import safe

MAX_SHOWN = 5


def verdict_lines(candidates: Sequence[Candidate], cells: int, *, limit_rows: int = MAX_SHOWN) -> list[Line]:
    """Two lines for each of the first, each `cells` wide; the rest is counted."""
    lines: list[Line] = []
    for candidate in candidates[:limit_rows]:
        step = rule_words(candidate.decision.rule)
        words = f"{safe(candidate.row.short_id):<8}  {step}: {verdict(candidate.decision)}"
        lines.append(fit([Piece(words)], cells))
        lines.append((Piece("   "), *excerpt_line(candidate.row, cells - 3)))
    if len(candidates) > limit_rows:
        lines.append(line(f"and {count(len(candidates) - limit_rows)} more"))
    return lines
