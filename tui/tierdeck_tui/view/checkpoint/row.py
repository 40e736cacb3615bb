"""Sessions that have checkpoints, and the checkpoints of one by branch, as rows of a list. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from tierdeck.checkpoint.folder import Listed, SessionInfo
from tierdeck_tui.view.checkpoint.state import cost_words, mark_pieces, state_pieces
from tierdeck_tui.view.format import age, counted, size
from tierdeck_tui.view.line import Line, Piece, fit, line, text_of
from tierdeck_tui.view.safe_text import safe

NS_PER_MS = 1_000_000
_SIZE_CHARS = 9
# Of number, turn, age, size and cost. Below so many cells they stand closer: the state needs the room.
_WIDTHS, _CLOSE_WIDTHS = (4, 8, 5, 9, 9), (4, 7, 5, 9, 7)
_WIDE_CELLS = 72


@dataclass(frozen=True, slots=True)
class Branch:
    """The checkpoints of one branch, the newest first; None collects the files whose summary can't be read.

    `has_head`: the session goes on from here. `follows` is the branch that it began on, where that is known.
    """

    name: str | None
    rows: tuple[Listed, ...]
    has_head: bool
    follows: str | None = None


def session_info_line(info: SessionInfo, now_ms: int, cells: int = 80) -> Line:
    """One session, exactly `cells` wide: its id, how many, how much, how old the newest; live, or what is wrong."""
    newest = None if info.newest_ns is None else info.newest_ns // NS_PER_MS
    facts = f"  {counted(info.checkpoints, 'checkpoint')} · {size(info.size_bytes)} · {age(newest, now_ms)}"
    pieces = [Piece(safe(info.session_id), "strong"), Piece(facts, "muted")]
    if info.is_live:
        pieces.append(Piece("  live", "good"))
    if info.problem:
        pieces.append(Piece(f"  {safe(info.problem)}", "warning"))
    return fit(pieces, cells)


def branches(listed: Sequence[Listed]) -> list[Branch]:
    """The checkpoints by branch: HEAD's first, then by their newest file; what can't be read comes last.

    Args:
        listed: of one session, in any order.
    """
    by_name: dict[str | None, list[Listed]] = {}
    branch_of: dict[str, str] = {}
    for each in sorted(listed, key=lambda each: each.sequence, reverse=True):
        # Kept, the summaries of ten thousand would be walked by each full collection while somebody types.
        summary = each.glance()
        if summary is not None:
            branch_of[summary.checkpoint_id] = summary.branch
        by_name.setdefault(None if summary is None else summary.branch, []).append(each)
    found = [
        Branch(name, tuple(rows), any(each.is_head for each in rows), _follows(rows[-1], branch_of))
        for name, rows in by_name.items()
    ]
    return sorted(found, key=lambda each: (each.name is None, not each.has_head, -each.rows[0].sequence))


def branch_line(branch: Branch, cells: int = 80, *, has_head_elsewhere: bool = False) -> Line:
    """The heading of a branch, exactly `cells` wide.

    Args:
        has_head_elsewhere: the session goes on from another branch, so this one was left.
    """
    if branch.name is None:
        return fit([Piece("can't be read", "error")], cells)
    left = "  left" if has_head_elsewhere and not branch.has_head else ""
    follows = f"  from {branch.follows}" if branch.follows else ""
    return fit([Piece(f"branch {branch.name}", "strong"), Piece(follows, "muted"), Piece(left, "warning")], cells)


def checkpoint_line(listed: Listed, now_ms: int, cells: int = 80) -> Line:
    """One checkpoint, exactly `cells` wide: number, turn, age, size, cost, state, marks. The state is cut."""
    summary = listed.summary
    made_ms = None if summary is None else summary.created_at_ns // NS_PER_MS
    number, turn, old, large, cost = _WIDTHS if cells >= _WIDE_CELLS else _CLOSE_WIDTHS
    head = line(
        Piece(f"{listed.sequence:>{number}}", "strong"),
        f"  {f'turn {listed.turn}':<{turn}}",
        Piece(f"{age(made_ms, now_ms):>{old}}", "muted"),
        f"{size(listed.size_bytes):>{large}}",
        Piece(f"{cost_words(summary.cost_so_far if summary else None):>{cost}}  ", "muted"),
    )
    state, marks = state_pieces(listed), mark_pieces(listed)
    left = cells - cell_len(text_of(head)) - cell_len(text_of(marks))
    if cells < _WIDE_CELLS and cell_len(text_of(state)) > left:
        # HEAD and the pin come first, and of the rest the end is cut.
        flags = [Piece(f"{mark.text.strip()} ", mark.role) for mark in marks if mark.role != "tier"]
        return fit([*head, *flags, *state, *(mark for mark in marks if mark.role == "tier")], cells)
    if left < _SIZE_CHARS:
        return fit([*head, *state, *marks], cells)
    is_cut = cell_len(text_of(state)) > left
    return fit([*head, *(fit(state, left) if is_cut else state), *marks], cells)


def session_lines(listed: Sequence[Listed], now_ms: int, cells: int = 80) -> list[Line]:
    """All checkpoints of a session: each branch's heading, then its rows, the newest first."""
    found = branches(listed)
    has_head = any(branch.has_head for branch in found)
    lines: list[Line] = []
    for branch in found:
        lines.append(branch_line(branch, cells, has_head_elsewhere=has_head))
        lines += [checkpoint_line(each, now_ms, cells) for each in branch.rows]
    return lines


def _follows(oldest: Listed, branch_of: dict[str, str]) -> str | None:
    """The branch on which the first checkpoint of this one stands."""
    summary = oldest.summary
    if summary is None or summary.parent is None:
        return None
    found = branch_of.get(summary.parent)
    return found if found != summary.branch else None
