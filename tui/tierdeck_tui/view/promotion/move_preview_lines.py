"""What a move by hand or a sweep would do, before anything is done: for dialogs and for `--dry-run`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tierdeck.model import NodeRow
from tierdeck.promote.moves.override import OverridePreview, PlannedMove
from tierdeck.promote.outlook.sweep_plan import SweepPlan
from tierdeck.promote.records import Hold
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.promotion.decision_lines import rule_words, verdict
from tierdeck_tui.view.promotion.hold_line import hold_words
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.wrap import wrap

MAX_SHOWN = 12
_INDENT = "   "


def override_preview_lines(
    preview: OverridePreview, rows: Mapping[str, NodeRow], cells: int = 80, *, limit_rows: int = MAX_SHOWN
) -> list[Line]:
    """What moves, from where, and what the rules say of it; what is held; what stands there already.

    Args:
        rows: the memories by id, for their text; one that is missing shows without.
        limit_rows: how many of each list are shown; the rest is counted.
    """
    to_tier = safe(preview.to_tier)
    lines = [line(f"{_memories(len(preview.moves))} would move to ", Piece(to_tier, "tier"))]
    lines += _listed([_move_lines(move, to_tier, rows, cells) for move in preview.moves], limit_rows)
    moving = {move.node_id for move in preview.moves}
    also = [hold for hold in preview.held if hold.node_id in moving]
    passed_over = [hold for hold in preview.held if hold.node_id not in moving]
    for holds, said in ((also, "held, and moved all the same"), (passed_over, "held, and passed over")):
        if holds:
            lines.append(line(Piece(f"{_memories(len(holds))} {said}", "warning")))
            lines += _listed([_hold_lines(hold, cells) for hold in holds], limit_rows)
    if preview.unchanged:
        lines.append(line(Piece(f"{_memories(len(preview.unchanged))} already in {to_tier}", "muted")))
    return lines


def sweep_plan_lines(plan: SweepPlan, cells: int = 80, *, limit_rows: int = MAX_SHOWN) -> list[Line]:
    """What a sweep would move by rule, what is blocked, what the rest lacks, examples, why it must be confirmed."""
    lines = [line(Piece(f"{_memories(plan.due_rows)} would move" if plan.due_rows else "nothing is due", "strong"))]
    lines += [line(f"{count(number):>9}  ", Piece(rule_words(rule), "tier")) for rule, number in plan.due.items()]
    blocked = [(plan.held, "held"), (plan.dismissed, "dismissed")]
    lines += [
        line(f"{count(number):>9}  ", Piece(f"{word}, left as they are", "muted")) for number, word in blocked
    ]
    lacking = {name: number for name, number in plan.rejections.items() if number}
    if lacking:
        lines.append(line("of the others lack:"))
        lines += [line(f"{count(number):>9}  ", Piece(safe(name), "muted")) for name, number in lacking.items()]
    if plan.examples:
        lines.append(line("for example:"))
        lines += _listed(
            [
                _told(each.row.id, rule_words(each.decision.rule), verdict(each.decision), each.row, cells)
                for each in plan.examples
            ],
            limit_rows,
            of_rows=plan.due_rows,
        )
    if plan.needs_confirmation:
        lines += wrap(line(Piece(f"to be confirmed: {safe(plan.needs_confirmation)}", "warning")), cells)
    return lines


def _move_lines(move: PlannedMove, to_tier: str, rows: Mapping[str, NodeRow], cells: int) -> list[Line]:
    step = f"{safe(move.from_tier)} → {to_tier}"
    says = f"the rules: {verdict(move.decision)}"
    return _told(move.node_id, step, says, rows.get(move.node_id), cells)


def _told(node_id: str, step: str, says: str, row: NodeRow | None, cells: int) -> list[Line]:
    """The memory's step and what is said of it, and a line of its text."""
    head = line(Piece(f" {safe(node_id)[:8]:<8}  ", "strong"), Piece(step, "tier"), Piece(f"  {says}", "muted"))
    lines = _wrapped(head, cells)
    if row is not None:
        lines.append((Piece(_INDENT), *excerpt_line(row, max(4, cells - len(_INDENT)))))
    return lines


def _hold_lines(hold: Hold, cells: int) -> list[Line]:
    head = line(Piece(f" {safe(hold.node_id)[:8]:<8}  ", "strong"), Piece(hold_words(hold), "muted"))
    return _wrapped(head, cells)


def _wrapped(one: Line, cells: int) -> list[Line]:
    """The line, and below it, set in, what did not fit."""
    first, *rest = wrap(one, max(10, cells - len(_INDENT)))
    return [first, *((Piece(_INDENT), *part) for part in rest)]


def _listed(each: Sequence[Sequence[Line]], limit_rows: int, *, of_rows: int | None = None) -> list[Line]:
    """The first, and how many there are besides; `of_rows` where `each` is only a part of them."""
    shown = each[:limit_rows]
    lines = [one for lines in shown for one in lines]
    rest = (len(each) if of_rows is None else of_rows) - len(shown)
    if rest > 0:
        lines.append(line(Piece(f"{_INDENT}and {count(rest)} more", "muted")))
    return lines


def _memories(number: int) -> str:
    return counted(number, "memory", "memories")
