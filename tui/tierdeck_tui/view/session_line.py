"""A session in a list, with what it did to memories: pulls and pushes apart. Pure."""

from __future__ import annotations

from tierdeck.store.session_uses import SessionUse
from tierdeck_tui.view.format import counted, local_time
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe

_DAY_CHARS, _OFFSET_CHARS = 10, 6


def session_lines(use: SessionUse, cells: int = 80, *, shows_last: bool = False) -> tuple[Line, Line]:
    """The two lines of a session, each exactly `cells` wide: name, counts, outcome; below, when and of whom.

    Args:
        shows_last: say when it looked last, instead of when it began and ended; for the uses of one memory.
    """
    session = use.session
    run = f" run {session.run}" if session.run > 1 else ""
    head = line(
        Piece(f"{safe(session.external_id)}{run}", "strong"),
        f"  {counted(use.pulls, 'pull')} · {counted(use.pushes, 'push', 'pushes')}",
        Piece(f" · listed {use.shown}×" if use.shown else "", "muted"),
        Piece(f" · {use.maintenance} of upkeep" if use.maintenance else "", "muted"),
        Piece(f"  {safe(use.outcome)}" if use.outcome else "", "good" if use.outcome == "success" else "warning"),
    )
    facts = [safe(fact) for fact in (session.agent, session.project) if fact]
    facts += [f"part of {safe(use.root)}"] if session.root_id != session.id else []
    when = local_time(use.last_ms) if shows_last else _span(use)
    return fit(head, cells), fit([Piece("   "), Piece(" · ".join([when, *facts]), "muted")], cells)


def _span(use: SessionUse) -> str:
    session = use.session
    start = local_time(session.started_at_ms)
    if session.ended_at_ms is None:
        return f"{start}, not ended"
    end = local_time(session.ended_at_ms)
    is_same_day = (start[:_DAY_CHARS], start[-_OFFSET_CHARS:]) == (end[:_DAY_CHARS], end[-_OFFSET_CHARS:])
    return f"{start} – {end[_DAY_CHARS:-_OFFSET_CHARS].strip() if is_same_day else end}"
