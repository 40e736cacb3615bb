"""The two lines of a candidate, a row of the log, a run or a hold in the Promotions screen's lists. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from tierdeck.model import NodeRow
from tierdeck.promote.records import Hold, LogEntry, Run
from tierdeck.promote.rules import Criterion, Decision
from tierdeck_tui.reading.promotion_items import CandidateItem, HoldItem, Item, LogItem
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import AGE_CELLS, age, count, counted, local_time, percent, short_number
from tierdeck_tui.view.line import Line, Piece, Role, fit, text_of
from tierdeck_tui.view.promotion.decision_lines import rule_words, verdict
from tierdeck_tui.view.promotion.hold_line import moved_words
from tierdeck_tui.view.promotion.log_line import deed_words
from tierdeck_tui.view.promotion.run_line import moved_words as run_words
from tierdeck_tui.view.promotion.run_line import rejection_words, undone_words
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.sanitise import pad, visible

_CURSOR_GLYPH, _MARK_GLYPH = "▌", "✓"
_GUTTER_CELLS = 2
_STEP_CELLS, _TYPE_CELLS, _PERCENT_CELLS, _ID_CELLS, _MINUTE_CELLS = 18, 10, 4, 8, 16
# From this width on a row says when to the minute; below it, how long ago.
_WIDE_CELLS = 60
# From this width on a candidate shows its id; below it the room is needed for what it has or lacks.
_WITH_ID_CELLS = 70


@dataclass(frozen=True, slots=True)
class ItemLook:
    """How a row is to be drawn: its width, the clock, and what the operator did to it."""

    cells: int
    now_ms: int
    is_cursor: bool = False
    is_marked: bool = False
    reveal: bool = False


def item_lines(item: Item, look: ItemLook) -> tuple[Line, Line]:
    """The two lines of any kind of row, each exactly as wide as the look says."""
    if isinstance(item, CandidateItem):
        return _candidate_lines(item.candidate.decision, item.candidate.row, look)
    if isinstance(item, LogItem):
        return _log_lines(item.entry, item.row, look, is_undone=item.is_undone)
    if isinstance(item, HoldItem):
        return _hold_lines(item.hold, item.row, look)
    return _run_lines(item.run, look, item.undone)


def short_why(decision: Decision) -> str:
    """What it has, when every criterion passed: `3 sessions, 2 successes`; else what it lacks."""
    if not decision.passes:
        return verdict(decision)
    had = ", ".join(filter(None, (_had(criterion) for criterion in decision.criteria)))
    return f"{decision.block}: {had}" if decision.block else had


def _candidate_lines(decision: Decision, row: NodeRow, look: ItemLook) -> tuple[Line, Line]:
    role: Role = "warning" if decision.block or not decision.passes else "good"
    id_cells = 1 + _ID_CELLS if look.cells >= _WITH_ID_CELLS else 0
    room = look.cells - _GUTTER_CELLS - _STEP_CELLS - 2 - id_cells
    head = [
        *_gutter(look),
        Piece(" " + rule_words(decision.rule).ljust(_STEP_CELLS), "tier"),
        Piece(" "),
        *fit([Piece(short_why(decision), role)], max(0, room)),
        Piece(" " + pad(visible(row.short_id, one_line=True), _ID_CELLS) if id_cells else "", "muted"),
    ]
    lead = [
        Piece(_CURSOR_GLYPH if look.is_cursor else " ", "mark"),
        Piece("  "),
        Piece(row.type.value.ljust(_TYPE_CELLS), "type"),
        Piece(f" {percent(row.confidence):>{_PERCENT_CELLS}} "),
    ]
    return fit(head, look.cells), _with_text(lead, row, look)


def _log_lines(entry: LogEntry, row: NodeRow | None, look: ItemLook, *, is_undone: bool) -> tuple[Line, Line]:
    is_wide = look.cells >= _WIDE_CELLS
    when = local_time(entry.at_ms)[:_MINUTE_CELLS] if is_wide else age(entry.at_ms, look.now_ms).rjust(AGE_CELLS)
    head = [
        *_gutter(look),
        Piece(f" {when} ", "muted"),
        Piece(deed_words(entry), "tier"),
        Piece(f"  {_by_words(entry)}"),
        Piece("  taken back" if is_undone else "", "warning"),
        Piece(f"  run {entry.run_id}" if entry.run_id is not None else "", "muted"),
    ]
    reason = f"“{safe(entry.reason)}” · " if entry.reason else ""
    lead = [
        Piece(_CURSOR_GLYPH if look.is_cursor else " ", "mark"),
        Piece("  "),
        Piece(f"#{count(entry.id)} ", "strong"),
        Piece(reason),
    ]
    if row is None:
        return fit(head, look.cells), fit([*lead, Piece("the memory is gone", "warning")], look.cells)
    return fit(head, look.cells), _with_text(lead, row, look)


def _hold_lines(hold: Hold, row: NodeRow | None, look: ItemLook) -> tuple[Line, Line]:
    until = "without end" if hold.until_ms is None else f"until {local_time(hold.until_ms)[:_MINUTE_CELLS]}"
    head = [
        *_gutter(look),
        Piece(f" {safe(hold.tier)}", "tier"),
        Piece(f"  {moved_words(hold)}" if hold.moved_to is not None else "", "warning"),
        Piece(f"  {until}"),
        Piece(f"  by {safe(hold.actor)}"),
        Piece(f"  since {local_time(hold.set_at_ms)[:_MINUTE_CELLS]}", "muted"),
    ]
    lead = [
        Piece(_CURSOR_GLYPH if look.is_cursor else " ", "mark"),
        Piece("  "),
        Piece(f"“{safe(hold.reason)}” · " if hold.reason else ""),
    ]
    if row is None:
        return fit(head, look.cells), fit([*lead, Piece("the memory is gone", "warning")], look.cells)
    return fit(head, look.cells), _with_text(lead, row, look)


def _run_lines(run: Run, look: ItemLook, undone: int) -> tuple[Line, Line]:
    state = "" if run.ended_at_ms is not None else "  not ended"
    when = local_time(run.at_ms)[:_MINUTE_CELLS]
    head = [
        *_gutter(look),
        Piece(f" #{count(run.id)} ", "strong"),
        Piece(run.kind, "tier"),
        Piece(f"  {when}", "muted"),
        Piece(f"  by {safe(run.actor)}"),
        Piece(state, "warning"),
    ]
    rejected = rejection_words(run)
    lead = [
        Piece(_CURSOR_GLYPH if look.is_cursor else " ", "mark"),
        Piece("  " + run_words(run), "plain"),
        Piece(f" · {undone_words(run, undone)}" if undone else "", "warning"),
        Piece(f" · “{safe(run.reason)}”" if run.reason else "", "plain"),
        Piece(f" · lacked: {rejected}" if rejected else "", "muted"),
    ]
    return fit(head, look.cells), fit(lead, look.cells)


def _by_words(entry: LogEntry) -> str:
    """Whose doing it was, and how."""
    if entry.kind == "auto":
        return "by the rules"
    how = {"approve": "approved ", "override": "by hand, "}.get(entry.kind, "")
    return f"{how}by {safe(entry.actor)}"


def _gutter(look: ItemLook) -> list[Piece]:
    return [
        Piece(_CURSOR_GLYPH if look.is_cursor else " ", "mark"),
        Piece(_MARK_GLYPH if look.is_marked else " ", "mark"),
    ]


def _with_text(lead: list[Piece], row: NodeRow, look: ItemLook) -> Line:
    """The lead, then as much of the memory's text as fits; a long lead leaves none."""
    room = look.cells - cell_len(text_of(lead))
    if room <= 0:
        return fit(lead, look.cells)
    return (*lead, *excerpt_line(row, room, reveal=look.reveal))


def _had(criterion: Criterion) -> str:
    found = criterion.found or 0
    match criterion.name:
        case "pulls in one session":
            return f"{counted(int(found), 'pull')} in one session"
        case "sessions":
            return counted(int(found), "session")
        case "successes":
            return counted(int(found), "success", "successes")
        case "failures":
            return counted(int(found), "failure") if found else ""
        case "confidence held":
            return f"held {short_number(found)}"
        case "days unused":
            return f"unused {count(int(found))} days"
        case "pulls since":
            return f"{counted(int(found), 'pull')} in the archive"
