"""Who used a memory and when: counts, a sparkline of its pulls, and one line a session, sub-agents below. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tierdeck.model import Access, AccessKind, SessionRow
from tierdeck.store import AccessSummary
from tierdeck_tui.view.format import age, count, counted
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.sparkline import sparkline

_SESSION_LINES = 40
_KIND_WORDS = {
    AccessKind.PULL: ("pull", "pulls"),
    AccessKind.PUSH: ("push", "pushes"),
    AccessKind.SHOWN: ("listed", "listed"),
    AccessKind.MAINTENANCE: ("upkeep", "upkeep"),
}


def access_lines(
    summary: AccessSummary,
    accesses: Sequence[Access],
    access_count: int,
    cells: int,
    now_ms: int,
    *,
    roots: Mapping[int, SessionRow] | None = None,
) -> list[Line]:
    """The lines of the section.

    Args:
        accesses: the latest looks, newest first.
        access_count: what the memory's own counter says; programs that keep no sessions leave only that.
        roots: the sessions that others began with, by number; those that are missing are told from `accesses`.
    """
    if not accesses:
        used = f"used {access_count}×, by sessions that were not recorded" if access_count else "not used yet"
        return [line(Piece(used, "muted"))]
    head = f"{counted(summary.pulls, 'pull')} in {counted(summary.roots, 'session')} · " + " · ".join(
        (counted(summary.pushes, "push", "pushes"), f"listed {summary.shown}×")
    )
    told = f"pulls recorded {count(summary.pulls)} / count incl. other programs {count(access_count)}"
    lines = [line(head), line(Piece(told, "muted"))]
    if summary.by_day:
        lines.append(_pulls_by_day(summary, cells))
    known = {access.session.id: access.session for access in accesses} | dict(roots or {})
    told_lines = [part for of_root in _by_root(accesses) for part in _root_lines(of_root, known, now_ms)]
    return lines + told_lines[:_SESSION_LINES]


@dataclass(slots=True)
class _Used:
    """What one session did with the memory."""

    session: SessionRow
    last_ms: int
    kinds: Counter[AccessKind] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)


def _pulls_by_day(summary: AccessSummary, cells: int) -> Line:
    first, last = summary.by_day[0][0], summary.by_day[-1][0]
    bars = sparkline(summary.by_day, max(4, cells - len(first) - len(last) - 2))
    end = f" {last}" if last != first else ""
    return line(Piece(f"{first} ", "muted"), Piece(bars, "keyword"), Piece(end, "muted"))


def _by_root(accesses: Iterable[Access]) -> list[list[_Used]]:
    """The sessions of each root, the latest used first, the root itself before its sub-agents."""
    found: dict[int, dict[int, _Used]] = {}
    for access in accesses:
        of_root = found.setdefault(access.session.root_id, {})
        used = of_root.setdefault(access.session.id, _Used(access.session, access.at_ms))
        used.kinds[access.kind] += 1
        if access.outcome:
            used.outcomes[access.outcome] += 1
    return [sorted(of_root.values(), key=lambda used: _is_sub(used.session)) for of_root in found.values()]


def _root_lines(of_root: Sequence[_Used], known: Mapping[int, SessionRow], now_ms: int) -> list[Line]:
    root = known.get(of_root[0].session.root_id)
    lines = []
    if root is not None and root.id != of_root[0].session.id:
        last_ms = max(used.last_ms for used in of_root)
        lines.append(line(f"{age(last_ms, now_ms):>4}  ", Piece(_name(root), "strong"), "  by sub-agents"))
    return lines + [_session_line(used, root, now_ms) for used in of_root]


def _session_line(used: _Used, root: SessionRow | None, now_ms: int) -> Line:
    session = used.session
    kinds = " ".join(counted(number, *_KIND_WORDS[kind]) for kind, number in used.kinds.items())
    facts = [visible(fact, one_line=True) for fact in (session.project, session.agent) if fact]
    outcome = _outcome(used, root)
    return line(
        f"{age(used.last_ms, now_ms):>4}  ",
        "└ " if _is_sub(session) else "",
        Piece(_name(session), "strong"),
        f"  {kinds}  ",
        Piece(" · ".join(facts), "muted"),
        Piece(f"  {outcome}" if outcome else "", "good" if outcome == "success" else "warning"),
    )


def _outcome(used: _Used, root: SessionRow | None) -> str:
    """What its pulls are worth: their own outcomes, else the session's, else that of the session it began with."""
    if len(used.outcomes) == 1:
        return visible(next(iter(used.outcomes)), one_line=True)
    if used.outcomes:
        return " ".join(f"{n} {visible(name, one_line=True)}" for name, n in sorted(used.outcomes.items()))
    inherited = used.session.outcome or (root.outcome if root else None)
    return visible(inherited, one_line=True) if inherited else ""


def _name(session: SessionRow) -> str:
    return visible(session.external_id, one_line=True) + (f" run {session.run}" if session.run > 1 else "")


def _is_sub(session: SessionRow) -> bool:
    return session.root_id != session.id
