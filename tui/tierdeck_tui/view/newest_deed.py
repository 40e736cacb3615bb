"""What an undo takes back of a memory: its newest change or its newest move, whichever is newer. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.model import Revision
from tierdeck.promote.records import LogEntry
from tierdeck_tui.view.change_preview import standing_change


def newest_deed(changes: Sequence[Revision], move: LogEntry | None) -> Revision | LogEntry | None:
    """The newer one; of the same millisecond the move. None when nothing stands that could be taken back.

    Args:
        changes: all changes of the memory, newest first.
        move: the row of the promotion log that an undo would take back.
    """
    change = standing_change(changes)
    if change is None or (move is not None and move.at_ms >= change.at_ms):
        return move
    return change
