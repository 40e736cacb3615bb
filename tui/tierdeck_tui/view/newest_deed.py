"""What an undo or a redo of a memory takes back: its newest change or move, whichever is newer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tierdeck.model import Revision
from tierdeck.promote.records import LogEntry
from tierdeck_tui.view.change_preview import standing_change

Deed = Revision | LogEntry
_Row = TypeVar("_Row", Revision, LogEntry)


def newest_deed(changes: Sequence[Revision], move: LogEntry | None) -> Deed | None:
    """The newer one; of the same millisecond the move. None when nothing stands that could be taken back.

    Args:
        changes: all changes of the memory, newest first.
        move: the row of the promotion log that an undo would take back.
    """
    return _newer(standing_change(changes), move)


def newest_undo(changes: Sequence[Revision], entries: Sequence[LogEntry]) -> Deed | None:
    """The latest undo that still stands, which is what a redo takes back; both lists newest first."""
    return _newer(_standing_undo(changes), _standing_undo(entries))


def _newer(change: Revision | None, move: LogEntry | None) -> Deed | None:
    if change is None or (move is not None and move.at_ms >= change.at_ms):
        return move
    return change


def _standing_undo(rows: Sequence[_Row]) -> _Row | None:
    by_id = {row.id: row for row in rows}
    taken_back = {row.undoes for row in rows}
    for row in rows:
        depth, step = 0, row
        while step.kind == "undo" and step.undoes is not None and step.undoes in by_id:
            depth, step = depth + 1, by_id[step.undoes]
        if row.id not in taken_back and depth % 2 == 1:
            return row
    return None
