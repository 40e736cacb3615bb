"""A checkpoint that was taken over from JSON, with what it lacks. Pure."""

from __future__ import annotations

from tierdeck.checkpoint.family import TakenOver
from tierdeck_tui.view.checkpoint.variables import losses_words
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe


def taken_lines(taken: TakenOver, cells: int = 80) -> tuple[Line, Line]:
    """Two lines, the first of any length: where it lies now, or from where it would come; below, what it holds."""
    place = taken.source if taken.path is None else taken.path
    facts = f"   {safe(taken.session_id)}  turn {taken.turn}  from JSON {taken.version}"
    lacks = f"  {losses_words(taken.losses)}" if taken.losses else ""
    below = [Piece(facts, "muted"), Piece("  degraded", "warning"), Piece(lacks, "warning")]
    return line(Piece(safe(str(place)), "strong")), fit(below, cells)
