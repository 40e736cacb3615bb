"""What else an undo does: a move of the rules that is taken back begins its evidence anew. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tierdeck.model import Revision
from tierdeck.promote.log.standing import BY_RULE
from tierdeck.promote.records import LogEntry


def evidence_note(deeds: Iterable[Revision | LogEntry]) -> str | None:
    """A sentence for the question before an undo; None when no move of the rules is among the deeds."""
    if any(isinstance(deed, LogEntry) and deed.kind in BY_RULE for deed in deeds):
        return "What the rules moved stays back until new pulls: its evidence begins anew."
    return None
