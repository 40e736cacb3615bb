"""What the Checkpoints screen says above its tree, and in an empty one. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.errors import TierdeckError
from tierdeck_tui.reading.checkpoint_sessions import Sessions
from tierdeck_tui.view.format import counted, size
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.search_status import marked_piece


def status_line(sessions: Sessions | None, marked: int, waiting: Sequence[str]) -> Line:
    """What waits for an agent's answer, how many are marked, how much there is.

    Args:
        sessions: None while they are being read.
        waiting: what agents were asked for: "back to turn 10".
    """
    if sessions is None:
        return line(Piece("reading the checkpoint folder…", "muted"))
    asked = [Piece(f"requested: {what}; the agent has not answered (t takes it back) · ", "warning")
             for what in waiting]  # fmt: skip
    numbers = [
        counted(len(sessions.infos), "session"),
        counted(sum(info.checkpoints for info in sessions.infos), "checkpoint"),
        size(sum(info.size_bytes for info in sessions.infos)),
    ]
    live = sum(info.is_live for info in sessions.infos)
    running = [Piece(f" · {live} live", "good")] if live else []
    where = Piece(f" · {visible(str(sessions.root), one_line=True)}", "muted")
    return line(*asked, marked_piece(marked), Piece(" · ".join(numbers), "strong"), *running, where)


def failed_lines(error: TierdeckError) -> list[Line]:
    """Why there is nothing to list, and what to do."""
    lines = [line(""), line(Piece("error: ", "error"), visible(error.message, one_line=True))]
    if error.hint:
        lines.append(line(Piece(visible(error.hint, one_line=True), "muted")))
    return lines
