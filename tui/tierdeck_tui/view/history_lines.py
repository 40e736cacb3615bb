"""What happened to a memory: its confidence, and changes that can be taken back. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.model import ConfidenceChange, Revision
from tierdeck_tui.view.format import local_time, short_number
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.sanitise import visible


def confidence_lines(changes: Sequence[ConfidenceChange]) -> list[Line]:
    """One line for each step of the confidence, with an arrow for its direction."""
    return [
        line(
            Piece(local_time(change.at_ms), "muted"),
            f"  {short_number(change.old)} → {short_number(change.new)} ",
            Piece("▲" if change.new > change.old else "▼", "good" if change.new > change.old else "warning"),
            f" {_safe(change.trigger)}",
            _after("  ", change.trigger_id),
        )
        for change in changes
    ]


def revision_lines(revisions: Sequence[Revision]) -> list[Line]:
    """One line for each change, saying which ones were taken back."""
    undone = {revision.undoes for revision in revisions if revision.undoes is not None}
    return [
        line(
            Piece(local_time(revision.at_ms), "muted"),
            f"  #{revision.id} {_safe(revision.kind)}",
            f" of #{revision.undoes}" if revision.undoes is not None else "",
            f" by {_safe(revision.actor)}",
            _after(": ", revision.reason),
            Piece("  taken back" if revision.id in undone else "", "warning"),
        )
        for revision in revisions
    ]


def _safe(text: str | None) -> str:
    return visible(text, one_line=True) if text else "–"


def _after(separator: str, text: str | None) -> str:
    return separator + visible(text, one_line=True) if text else ""
