"""A session that has checkpoints, and a checkpoint, each as a row of a list. Pure."""

from __future__ import annotations

from rich.cells import cell_len

from tierdeck.checkpoint.folder import Listed, SessionInfo
from tierdeck_tui.view.checkpoint.state import cost_words, mark_pieces, run_piece, state_pieces
from tierdeck_tui.view.format import age, counted, size
from tierdeck_tui.view.line import Line, Piece, fit, line, text_of
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.sanitise import cut

NS_PER_MS = 1_000_000
_SIZE_CHARS = 9
_ID_CELLS = 8  # of a session's id, in a row with no room for all of it
# Of number, turn, age, size and cost. Below so many cells they stand closer: the state needs the room.
_WIDTHS, _CLOSE_WIDTHS = (4, 8, 5, 9, 9), (4, 7, 5, 9, 7)
_WIDE_CELLS = 72


def session_info_line(info: SessionInfo, now_ms: int, cells: int = 80) -> Line:
    """One session, exactly `cells` wide: its id, how its run stands, how many, how much, how old, what is wrong.

    Where there is no room for all, words are left out, then how many, then the id is cut, then the end.
    """
    problem = [Piece(f"  {safe(info.problem)}", "warning")] if info.problem else []
    name = safe(info.session_id)
    rest, left = list[Piece](), 0
    for run, facts in _session_words(info, now_ms):
        rest = [Piece("  "), run, Piece(f"  {facts}", "muted"), *problem]
        left = cells - cell_len(text_of(tuple(rest)))
        if cell_len(name) <= left:
            break
    return fit([Piece(cut(name, max(left, _ID_CELLS)), "strong"), *rest], cells)


def _session_words(info: SessionInfo, now_ms: int) -> list[tuple[Piece, str]]:
    """How its run stands, and its facts; the longest words first."""
    long, short = (run_piece(info.run, is_short=is_short) for is_short in (False, True))
    few = session_facts(info, now_ms, is_short=True)
    fewest = few.removeprefix(f"{counted(info.checkpoints, 'checkpoint')} · ")
    return [(long, session_facts(info, now_ms)), (long, few), (short, few), (short, fewest)]


def session_facts(info: SessionInfo, now_ms: int, *, is_short: bool = False) -> str:
    """How many checkpoints it has, how much they take, how much of that in the trash, how old the newest is."""
    newest = None if info.newest_ns is None else info.newest_ns // NS_PER_MS
    large = size_words(info.size_bytes, info.trash_bytes, is_short=is_short)
    return f"{counted(info.checkpoints, 'checkpoint')} · {large} · {age(newest, now_ms)}"


def size_words(size_bytes: int, trash_bytes: int, *, is_short: bool = False) -> str:
    """`12.4 MB, 3.1 MB of it in the trash`, short `12.4 MB (3.1 MB trash)`; without trash the first alone."""
    if not trash_bytes:
        return size(size_bytes)
    trash = f" ({size(trash_bytes)} trash)" if is_short else f", {size(trash_bytes)} of it in the trash"
    return f"{size(size_bytes)}{trash}"


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
