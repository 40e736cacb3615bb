"""What undoing a run would do, as a dialog shows it, and what there is to say when nothing can be undone. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.promote.records import LogEntry
from tierdeck_tui.reading.run_undo import RunUndo
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.promotion.log_line import deed_words
from tierdeck_tui.view.promotion.undone_evidence import evidence_note
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.wrap import wrap

MAX_SHOWN = 6


def run_undo_lines(preview: RunUndo, cells: int) -> list[Line]:
    """What would be taken back, what not, how many rows were not looked at, and what becomes of the evidence."""
    looked_at = len(preview.standing) + len(preview.passed) + len(preview.taken_back)
    if not preview.standing and not preview.passed:
        return wrap(line(nothing_to_undo(preview)), cells)
    done = "be done again" if preview.is_redo else "be taken back"
    lines = [line(f"{counted(len(preview.standing), 'row')} would {done}")]
    lines += _listed(preview.standing, cells)
    if preview.taken_back:
        lines.append(line(f"{counted(len(preview.taken_back), 'row was', 'rows were')} taken back already"))
    if preview.passed:
        lines.append(line(f"{counted(len(preview.passed), 'row')} would be refused: something happened since"))
        lines += _listed(preview.passed, cells)
    if preview.rows > looked_at:
        lines.append(line(f"and the run's {counted(preview.rows - looked_at, 'other row')}, as far as they stand"))
    note = evidence_note(preview.standing)
    return [*lines, *wrap(line(Piece(note, "warning")), cells)] if note else lines


def nothing_to_undo(preview: RunUndo) -> str:
    """Why there is nothing to do in a run whose rows were all taken back, or that has none."""
    if not preview.rows or preview.latest is None:
        return f"run {preview.run_id} moved nothing"
    last = preview.latest
    by = f"row #{count(last.id)} of the log" if last.run_id is None else f"run {last.run_id}"
    if preview.is_done_again:
        return f"run {preview.run_id} was taken back and done again, by {by}: undo that one"
    return f"run {preview.run_id} was taken back already, by {by}"


def _listed(entries: Sequence[LogEntry], cells: int) -> list[Line]:
    lines = [
        fit([Piece(f"  #{entry.id}  {safe(entry.node_id)[:8]}  {deed_words(entry)}")], cells)
        for entry in entries[:MAX_SHOWN]
    ]
    if len(entries) > MAX_SHOWN:
        lines.append(line(f"  and {count(len(entries) - MAX_SHOWN)} more"))
    return lines
