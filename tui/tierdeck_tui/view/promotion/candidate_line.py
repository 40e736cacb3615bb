"""A memory that the rules look at, in a list: what it would become, what it lacks, and its text. Pure."""

from __future__ import annotations

from tierdeck.model import NodeRow
from tierdeck.promote.rules import Decision
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import AGE_CELLS, age, percent
from tierdeck_tui.view.line import Line, Piece, Role, fit
from tierdeck_tui.view.promotion.decision_lines import rule_words, verdict
from tierdeck_tui.view.safe_text import safe

_RULE_CELLS, _TYPE_CELLS, _ID_CELLS, _INDENT_CELLS = 18, 10, 8, 3
# Below this width the verdict needs the room of the type.
_WIDE_CELLS = 92


def candidate_lines(row: NodeRow, decision: Decision, cells: int, now_ms: int) -> tuple[Line, Line]:
    """Two lines, each exactly `cells` wide: id, step, confidence, last use, verdict; the text.

    What passed and is not blocked is set off.
    """
    role: Role = "good" if decision.passes and decision.block is None else "warning"
    head = [
        Piece(f"{safe(row.short_id)[:_ID_CELLS]:<{_ID_CELLS}} ", "muted"),
        Piece(f"{rule_words(decision.rule):<{_RULE_CELLS}} ", "tier"),
        Piece(f"{row.type.value:<{_TYPE_CELLS}} " if cells >= _WIDE_CELLS else "", "type"),
        Piece(f"{percent(row.confidence):>4} {age(row.last_accessed_ms, now_ms):>{AGE_CELLS}}  "),
        Piece(verdict(decision), role),
    ]
    text = excerpt_line(row, max(0, cells - _INDENT_CELLS))
    return fit(head, cells), fit([Piece(" " * _INDENT_CELLS), *text], cells)
