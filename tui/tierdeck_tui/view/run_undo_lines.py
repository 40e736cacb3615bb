"""What undoing a run would do, as a dialog shows it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.promote.records import LogEntry
from tierdeck_tui.reading.run_undo import RunUndo
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.log_line import deed_words
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.undone_evidence import evidence_note
from tierdeck_tui.view.wrap import wrap

MAX_SHOWN = 6


def run_undo_lines(preview: RunUndo, cells: int) -> list[Line]:
    """What would be taken back, what not, how many rows were not looked at, and what becomes of the evidence."""
    looked_at = len(preview.standing) + len(preview.passed)
    lines = [line(f"{counted(len(preview.standing), 'row')} would be taken back")]
    lines += _listed(preview.standing, cells)
    if preview.passed:
        lines.append(line(f"{counted(len(preview.passed), 'row')} would be refused: something happened since"))
        lines += _listed(preview.passed, cells)
    if preview.rows > looked_at:
        lines.append(line(f"and the run's {counted(preview.rows - looked_at, 'other row')}, as far as they stand"))
    note = evidence_note(preview.standing)
    return [*lines, *wrap(line(Piece(note, "warning")), cells)] if note else lines


def _listed(entries: Sequence[LogEntry], cells: int) -> list[Line]:
    lines = [
        fit([Piece(f"  #{entry.id}  {safe(entry.node_id)[:8]}  {deed_words(entry)}")], cells)
        for entry in entries[:MAX_SHOWN]
    ]
    if len(entries) > MAX_SHOWN:
        lines.append(line(f"  and {count(len(entries) - MAX_SHOWN)} more"))
    return lines
