"""What other numbers in the rules would move, beside those in force. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tierdeck.promote.outlook.candidate_page import Candidate
from tierdeck.promote.outlook.what_if import WhatIf
from tierdeck.promote.rules import RuleName
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import count
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.promotion.decision_lines import rule_words
from tierdeck_tui.view.safe_text import safe

_HEAD_CELLS = 31


def what_if_lines(found: WhatIf, cells: int = 80) -> list[Line]:
    """A line for each rule with its candidates now and then, and examples of those that make the difference."""
    lines = [line(Piece(f"{'':20}{'now':>9}{'then':>9}", "muted"))]
    for rule in found.now:
        now, then = found.now[rule], found.then.get(rule, 0)
        more, fewer = found.gained_rows.get(rule, 0), found.lost_rows.get(rule, 0)
        lines.append(
            line(
                Piece(f"{rule_words(rule):<20}", "tier"),
                f"{count(now):>9}{count(then):>9}",
                Piece(f"   {count(more)} more" if more else "", "good"),
                Piece(f"   {count(fewer)} fewer" if fewer else "", "warning"),
            )
        )
    lines += _examples("would move then, and not now:", found.gained, found.gained_rows, cells)
    lines += _examples("would move now, and not then:", found.lost, found.lost_rows, cells)
    return lines


def _examples(title: str, rows: Sequence[Candidate], counts: Mapping[RuleName, int], cells: int) -> list[Line]:
    if not rows:
        return []
    lines = [line(Piece(title, "strong"))]
    for each in rows:
        head = f"  {safe(each.row.short_id)[:8]:<8}  {rule_words(each.decision.rule):<18} "
        text = excerpt_line(each.row, max(4, cells - _HEAD_CELLS))
        lines.append((Piece(head, "muted"), *text))
    rest = sum(counts.values()) - len(rows)
    return [*lines, line(Piece(f"  and {count(rest)} more", "muted"))] if rest > 0 else lines
