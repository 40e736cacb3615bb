"""What clearing away would take and what it would keep, and what lies in the trash. Pure."""

from __future__ import annotations

from tierdeck.checkpoint.folder.retention import PrunePlan
from tierdeck.checkpoint.folder.trash import Trashed
from tierdeck_tui.view.checkpoint.row import checkpoint_line
from tierdeck_tui.view.format import age, counted, size
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe


def prune_lines(plan: PrunePlan, now_ms: int, cells: int = 80) -> list[Line]:
    """What would go to the trash, then what is kept, each with its reason; none wider than `cells`."""
    lines = [line(Piece(prune_words(plan), "strong"))]
    lines += [checkpoint_line(each, now_ms, cells) for each in plan.delete]
    if plan.kept:
        lines.append(line(Piece(f"kept: {counted(len(plan.kept), 'checkpoint')}", "strong")))
        for kept in plan.kept:
            head = Piece(f"{kept.listed.sequence:>5}  {f'turn {kept.listed.turn}':<9} ", "muted")
            lines.append(fit([head, Piece(safe(kept.why))], cells))
    if plan.over_budget:
        lines.append(line(Piece(safe(plan.over_budget), "warning")))
    return lines


def prune_words(plan: PrunePlan) -> str:
    """`12 checkpoints, 31.2 MB, to the trash`."""
    return f"{counted(len(plan.delete), 'checkpoint')}, {size(plan.delete_bytes)}, to the trash"


def trashed_line(trashed: Trashed, now_ms: int, cells: int = 80) -> Line:
    """One file in the trash, exactly `cells` wide: its number, turn, size, since when, who put it there."""
    by = "by retention" if trashed.is_automatic else "by hand"
    pieces = [
        Piece(f"{trashed.sequence:>5}", "strong"),
        Piece(f"  {f'turn {trashed.turn}':<9}{size(trashed.size_bytes):>9}"),
        Piece(f"  {age(trashed.trashed_ms, now_ms)} in the trash, {by}  ", "muted"),
        Piece(safe(trashed.file), "muted"),
    ]
    return fit(pieces, cells)
