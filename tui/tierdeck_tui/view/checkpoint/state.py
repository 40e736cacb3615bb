"""What state a checkpoint is in, in words: verified or not, what is missing from it, what it waits for. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from tierdeck.checkpoint import Operation, Summary
from tierdeck.checkpoint.family import DEGRADED
from tierdeck.checkpoint.folder import Listed, RunState
from tierdeck.checkpoint.journal import Entry
from tierdeck_tui.view.format import NONE, count, counted
from tierdeck_tui.view.line import Piece, Role
from tierdeck_tui.view.safe_text import safe

_LONG_COST = 1_000_000  # in full, it would push the other words out of a row
UNFINISHED = ("pending", "running", "failed")
"""The states of operations that somebody has to decide about after a restore."""


OUTCOMES: Mapping[str, str] = {
    "running": "outcome unknown",
    "pending": "not begun",
    "failed": "failed",
    "done": "done",
    "cancelled": "skipped",
}
"""What an operation's state means to a person."""


_RUNS: Mapping[RunState, tuple[str, Role]] = {
    "running": ("running", "good"),
    "ended": ("ended", "muted"),
    "stopped": ("stopped without an end", "warning"),
    "unknown": ("not running", "muted"),
}


def run_piece(run: RunState, *, is_short: bool = False) -> Piece:
    """How a session's run stands, in words; of one that was killed, short: `stopped`."""
    words, role = _RUNS[run]
    return Piece(words.removesuffix(" without an end") if is_short else words, role)


def state_pieces(listed: Listed) -> list[Piece]:
    """`ok · 2 lost · 1 running`, or `DAMAGED why`; of a file that nobody verified yet, that."""
    if listed.state == "damaged":
        return [Piece("DAMAGED ", "error"), Piece(_why(listed), "error")]
    if listed.state == "newer":
        return [Piece("NEWER ", "warning"), Piece(_why(listed), "warning")]
    pieces = [Piece("ok", "good") if listed.state == "ok" else Piece("not verified", "muted")]
    for told in content_words(listed.summary):
        pieces += [Piece(" · ", "muted"), Piece(told, "warning")]
    return pieces


def content_words(summary: Summary | None) -> list[str]:
    """What is lost, unfinished or poorer than it was: `2 lost`, `1 running`, `degraded`; empty when all is well."""
    if summary is None:
        return []
    degraded = [DEGRADED] if DEGRADED in summary.writer else []
    lost = [f"{count(summary.lost)} lost"] if summary.lost else []
    return lost + unfinished_words(summary.pending) + degraded


def unfinished_words(pending: Mapping[str, int]) -> list[str]:
    """The operations that are not over, by state: `1 pending`, `2 running`."""
    return [f"{count(pending[state])} {state}" for state in UNFINISHED if pending.get(state)]


def effects_words(call: Entry | Operation) -> str:
    """Whether making the call twice does harm, as its agent has said."""
    return "side effects" if call.has_side_effects else "no side effects"


def mark_pieces(listed: Listed) -> list[Piece]:
    """Its marks: HEAD, pinned, and the label; each with a blank before it."""
    pieces = [Piece(" HEAD", "strong")] if listed.is_head else []
    if listed.is_pinned:
        pieces.append(Piece(" pinned", "type"))
    if listed.label is not None:
        pieces.append(Piece(f" “{safe(listed.label)}”", "tier"))
    return pieces


def cost_words(cost: float | None) -> str:
    """US dollars, `$0.25`; `–` when it is not known, which is not nothing."""
    if cost is not None and cost >= _LONG_COST:
        return f"${cost:.1e}"
    return NONE if cost is None else f"${cost:,.2f}" if cost == 0 or cost >= 0.01 else f"${cost:,.4f}"


def tokens_words(tokens: int | None) -> str:
    """`1,234 tokens`, or that they were not counted."""
    return "tokens not counted" if tokens is None else counted(tokens, "token")


def _why(listed: Listed) -> str:
    # Messages begin with the file's name, which stands in the row already.
    why = (listed.why or "nothing more is known").removeprefix(f"read checkpoint {listed.file}: ")
    return safe(why)
