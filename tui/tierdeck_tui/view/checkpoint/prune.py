"""What clearing away would take and what it would keep, and what lies in the trash. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.checkpoint.folder.retention import PrunePlan
from tierdeck.checkpoint.folder.trash import DAY_MS, KEPT_DAYS, Trashed
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
    """`12 checkpoints, 31.2 MB, to the trash`, or that there is nothing to clear away."""
    if not plan.delete:
        return "nothing to clear away"
    return f"{counted(len(plan.delete), 'checkpoint')}, {size(plan.delete_bytes)}, to the trash"


def trash_words(trashed: Sequence[Trashed]) -> str:
    """`2 checkpoints, 5.1 MB; each is removed for good …`, or that it is empty."""
    if not trashed:
        return "it is empty"
    total = size(sum(each.size_bytes for each in trashed))
    return f"{counted(len(trashed), 'checkpoint')}, {total}; kept for {KEPT_DAYS} days, then removed for good"


def trashed_line(trashed: Trashed, now_ms: int, cells: int = 80) -> Line:
    """One file in the trash, exactly `cells` wide: its number, turn, size, since when, how long still, by whom."""
    left_ms = trashed.trashed_ms + KEPT_DAYS * DAY_MS - now_ms
    # Nothing is removed by the clock alone: it goes when something is saved or cleared away.
    stays = Piece(f"goes in {age(now_ms, now_ms + left_ms)}") if left_ms > 0 else Piece("goes next time", "warning")
    by = "by retention" if trashed.is_automatic else "by hand"
    pieces = [
        Piece(f"{trashed.sequence:>5}", "strong"),
        Piece(f"  {f'turn {trashed.turn}':<9}{size(trashed.size_bytes):>9}  "),
        stays,
        Piece(f", there for {age(trashed.trashed_ms, now_ms)}, {by}  ", "muted"),
        Piece(safe(trashed.file), "muted"),
    ]
    return fit(pieces, cells)
