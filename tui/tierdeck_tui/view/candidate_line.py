"""A memory that the rules look at, in a list: what it would become, what it lacks, and its text. Pure."""

from __future__ import annotations

from tierdeck.model import NodeRow
from tierdeck.promote.rules import Decision
from tierdeck_tui.view.decision_lines import rule_words, verdict
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import AGE_CELLS, age, percent
from tierdeck_tui.view.line import Line, Piece, Role, fit
from tierdeck_tui.view.log_line import safe
from tierdeck_tui.view.memory_row import RowLook

CANDIDATE_ROW_LINES = 2
_CURSOR, _MARK = "▌", "✓"
_RULE_CELLS, _TYPE_CELLS, _ID_CELLS = 18, 10, 8


def candidate_lines(row: NodeRow, decision: Decision, look: RowLook) -> tuple[Line, Line]:
    """Two lines, each exactly as wide as the look says: id, step, type, confidence, last use, verdict; the text.

    Held and dismissed ones say so in the verdict; what passed and is not blocked is set off.
    """
    role: Role = "good" if decision.passes and decision.block is None else "warning"
    cursor = Piece(_CURSOR if look.is_cursor else " ", "mark")
    head = [
        cursor,
        Piece(_MARK if look.is_marked else " ", "mark"),
        Piece(f"{safe(row.short_id)[:_ID_CELLS]:<{_ID_CELLS}} ", "muted"),
        Piece(f"{rule_words(decision.rule):<{_RULE_CELLS}} ", "tier"),
        Piece(f"{row.type.value:<{_TYPE_CELLS}} ", "type"),
        Piece(f"{percent(row.confidence):>4} {age(row.last_accessed_ms, look.now_ms):>{AGE_CELLS}}  "),
        Piece(verdict(decision), role),
    ]
    is_head = row.content_chars > len(row.excerpt)
    text = excerpt_line(row.excerpt, max(0, look.cells - 2), is_head=is_head, reveal=look.reveal)
    return fit(head, look.cells), fit([cursor, Piece(" "), *text], look.cells)
