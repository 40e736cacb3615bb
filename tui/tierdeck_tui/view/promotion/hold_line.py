"""A hold, in a list and in a sentence. Pure."""

from __future__ import annotations

from tierdeck.promote.records import Hold
from tierdeck_tui.view.format import local_time
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe


def hold_lines(hold: Hold, cells: int = 80) -> tuple[Line, Line]:
    """The two lines of a hold in a list, each exactly `cells` wide: which memory, where, since when; below, why."""
    head = line(
        Piece(f"{safe(hold.node_id)[:8]:<8}  ", "strong"),
        Piece(safe(hold.tier), "tier"),
        Piece(f"  since {local_time(hold.set_at_ms)}", "muted"),
        Piece(f"  {moved_words(hold)}" if hold.moved_to is not None else "", "warning"),
    )
    until = f" · until {local_time(hold.until_ms)}" if hold.until_ms is not None else " · without end"
    reason = f" · {safe(hold.reason)}" if hold.reason else ""
    below = [Piece("   "), Piece(f"by {safe(hold.actor)}{until}", "muted"), Piece(reason)]
    return fit(head, cells), fit(below, cells)


def hold_words(hold: Hold) -> str:
    """`held in session since … without end by ops: keep it`."""
    until = f"until {local_time(hold.until_ms)}" if hold.until_ms is not None else "without end"
    reason = f": {safe(hold.reason)}" if hold.reason else ""
    moved = f" ({moved_words(hold)})" if hold.moved_to is not None else ""
    since = local_time(hold.set_at_ms)
    return f"held in {safe(hold.tier)} since {since}, {until}, by {safe(hold.actor)}{reason}{moved}"


def moved_words(hold: Hold) -> str:
    """That another program moved the held memory."""
    return f"moved to {safe(hold.moved_to)} by another program"
