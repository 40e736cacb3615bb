"""Everything the head of a checkpoint says, one fact a row. Pure; nothing of its contents is decoded for it."""

from __future__ import annotations

from collections.abc import Iterator

from tierdeck.checkpoint import Head, Summary
from tierdeck.checkpoint.folder import Listed
from tierdeck_tui.view.checkpoint.row import NS_PER_MS
from tierdeck_tui.view.checkpoint.state import cost_words, state_pieces, tokens_words
from tierdeck_tui.view.format import NONE, count, counted, local_time, size
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.wrap import wrap

_NAME_CELLS = 11
_REASONS = {
    "auto": "saved by itself",
    "manual": "saved on purpose",
    "pre-restore": "saved before a restore",
    "exit": "saved when the session ended",
}


def summary_lines(listed: Listed, head: Head | None, cells: int = 80) -> list[Line]:
    """The facts of one checkpoint: its path in a line of any length, the others in lines of at most `cells`.

    Args:
        head: None when it can't be read; then what the folder knows is all there is.
    """
    facts = [*_folder_facts(listed), *(_head_facts(head) if head is not None else ())]
    rows = [line(Piece(f"{name:<{_NAME_CELLS}}", "muted"), *pieces) for name, pieces in facts]
    # A path that is broken can't be copied.
    return [line(Piece(safe(str(listed.path)), "strong")), *(part for row in rows for part in wrap(row, cells))]


def reason_words(summary: Summary) -> str:
    """Why it was saved: `saved by itself`."""
    return _REASONS.get(summary.reason, safe(summary.reason))


def _folder_facts(listed: Listed) -> Iterator[tuple[str, list[Piece]]]:
    yield "state", state_pieces(listed)
    marks = ["HEAD"] if listed.is_head else []
    marks += ["pinned"] if listed.is_pinned else []
    yield "marks", [Piece(" · ".join(marks) or NONE)]
    yield "label", [Piece(safe(listed.label), "tier" if listed.label else "plain")]
    yield "size", [Piece(size(listed.size_bytes))]


def _head_facts(head: Head) -> Iterator[tuple[str, list[Piece]]]:
    summary = head.summary
    yield "session", [Piece(safe(summary.session_id), "strong")]
    yield "checkpoint", [Piece(summary.checkpoint_id)]
    after = f" after {summary.parent}" if summary.parent else ""
    yield "branch", [Piece(f"{summary.branch}{after}")]
    if summary.origin is not None:
        origin = f"{safe(summary.origin.session_id)}, its checkpoint {safe(summary.origin.checkpoint_id)}"
        yield "forked from", [Piece(f" {origin}")]
    yield "made", [Piece(f"{local_time(summary.created_at_ns // NS_PER_MS)}, {reason_words(summary)}")]
    yield "turn", [Piece(f"{count(summary.turn)}, depth {count(summary.depth)}")]
    yield "cost", [Piece(f"{cost_words(summary.cost_so_far)} · {tokens_words(summary.tokens)}")]
    yield "holds", [Piece(_held(summary))]
    yield "operations", [Piece(_operations(summary))]
    yield "unpacked", [Piece(size(summary.raw_bytes))]
    keyed = ", its trailer made with a key" if head.is_keyed else ""
    newer = ", newer than this program: what it does not know is kept and not shown" if head.is_newer else ""
    yield "format", [Piece(f"{head.major}.{head.minor}{keyed}{newer}", "warning" if newer else "plain")]
    written = " · ".join(f"{safe(name)} {safe(text)}" for name, text in summary.writer.items())
    yield "written by", [Piece(written or NONE, "muted")]


def _held(summary: Summary) -> str:
    held = [
        counted(summary.variables, "variable"),
        f"{count(summary.lost)} lost",
        f"{count(summary.inert)} kept as text or fields only",
        counted(summary.messages, "message"),
        counted(summary.events, "event"),
    ]
    return " · ".join(held)


def _operations(summary: Summary) -> str:
    states = [f"{count(number)} {safe(state)}" for state, number in summary.pending.items() if number]
    return " · ".join(states) or "none"
