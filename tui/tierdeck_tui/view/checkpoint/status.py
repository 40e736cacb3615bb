"""What the Checkpoints screen says above its tree, and in an empty one. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tierdeck.checkpoint.folder import RunState
from tierdeck.errors import TierdeckError
from tierdeck_tui.reading.checkpoint_sessions import Sessions
from tierdeck_tui.view.checkpoint.row import NS_PER_MS, size_words
from tierdeck_tui.view.checkpoint.state import mark_pieces, run_piece, state_pieces
from tierdeck_tui.view.checkpoint.tree import CheckpointRow
from tierdeck_tui.view.format import age, count, counted
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.search_status import marked_piece

_TOLD_RUNS: Sequence[RunState] = ("running", "stopped")


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
    infos = sessions.infos
    numbers = [
        counted(len(infos), "session"),
        counted(sum(info.checkpoints for info in infos), "checkpoint"),
        size_words(sum(info.size_bytes for info in infos), sum(info.trash_bytes for info in infos)),
    ]
    runs = Counter(info.run for info in infos)
    told = [(run, run_piece(run, is_short=True)) for run in _TOLD_RUNS if runs[run]]
    running = [Piece(f" · {count(runs[run])} {words.text}", words.role) for run, words in told]
    where = Piece(f" · {visible(str(sessions.root), one_line=True)}", "muted")
    return line(*asked, marked_piece(marked), Piece(" · ".join(numbers), "strong"), *running, where)


def subject_line(row: CheckpointRow, now_ms: int) -> Line:
    """Which checkpoint is looked into while the tree is out of sight: `s-14 · checkpoint 4 · turn 6 · 4h · ok`."""
    listed = row.listed
    made_ms = None if listed.summary is None else listed.summary.created_at_ns // NS_PER_MS
    return line(
        Piece(visible(row.info.session_id, one_line=True), "strong"),
        Piece(f" · checkpoint {listed.sequence} · turn {listed.turn} · {age(made_ms, now_ms)} · "),
        *state_pieces(listed),
        *mark_pieces(listed),
    )


def failed_lines(error: TierdeckError) -> list[Line]:
    """Why there is nothing to list, and what to do."""
    lines = [line(""), line(Piece("error: ", "error"), visible(error.message, one_line=True))]
    if error.hint:
        lines.append(line(Piece(visible(error.hint, one_line=True), "muted")))
    return lines
