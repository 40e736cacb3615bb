"""Who used a memory and when: counts, a sparkline of its pulls, and one line a session. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tierdeck.model import Access, AccessKind, SessionRow
from tierdeck.store import AccessSummary
from tierdeck_tui.view.format import age, counted
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.sparkline import sparkline

_SESSION_LINES = 40


def access_lines(
    summary: AccessSummary, accesses: Sequence[Access], access_count: int, cells: int, now_ms: int
) -> list[Line]:
    """The lines of the section.

    Args:
        accesses: the latest looks, newest first.
        access_count: what the memory's own counter says; programs that keep no sessions leave only that.
    """
    if not accesses:
        used = f"used {access_count}×, by sessions that were not recorded" if access_count else "not used yet"
        return [line(Piece(used, "muted"))]
    head = f"{counted(summary.pulls, 'pull')} in {counted(summary.roots, 'session')} · " + " · ".join(
        (counted(summary.pushes, "push", "pushes"), f"listed {summary.shown}×")
    )
    lines = [line(head)]
    if summary.by_day:
        first, last = summary.by_day[0][0], summary.by_day[-1][0]
        room = max(4, cells - len(first) - len(last) - 2)
        bars = sparkline(summary.by_day, room)
        lines.append(
            line(
                Piece(f"{first} ", "muted"),
                Piece(bars, "keyword"),
                Piece(f" {last}" if last != first else "", "muted"),
            )
        )
    return lines + [_session_line(used, now_ms) for used in _by_session(accesses)[:_SESSION_LINES]]


@dataclass(slots=True)
class _Used:
    session: SessionRow
    last_ms: int
    kinds: dict[AccessKind, int] = field(default_factory=dict)
    outcome: str | None = None


def _by_session(accesses: Iterable[Access]) -> list[_Used]:
    found: dict[int, _Used] = {}
    for access in accesses:
        used = found.setdefault(access.session.id, _Used(access.session, access.at_ms))
        used.kinds[access.kind] = used.kinds.get(access.kind, 0) + 1
        used.outcome = used.outcome or access.outcome
    return list(found.values())


def _session_line(used: _Used, now_ms: int) -> Line:
    session = used.session
    name = visible(session.external_id, one_line=True) + (f" run {session.run}" if session.run > 1 else "")
    kinds = " ".join(f"{count} {kind.value}" for kind, count in used.kinds.items())
    facts = [visible(fact, one_line=True) for fact in (session.project, session.agent) if fact]
    outcome = used.outcome or session.outcome
    return line(
        f"{age(used.last_ms, now_ms):>4}  ",
        Piece(name, "strong"),
        f"  {kinds}  ",
        Piece(" · ".join(facts), "muted"),
        Piece(f"  {outcome}" if outcome else "", "good" if outcome == "success" else "warning"),
    )
