"""Why a memory is where it is, and what it lacks to move: the whole answer of `tierdeck why`. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.model import NodeRow, TierMove
from tierdeck.promote.outlook.why import Explanation
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import count, counted, local_time
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.promotion.decision_lines import DISMISSED_WORDS, clock_note, decision_lines
from tierdeck_tui.view.promotion.hold_line import hold_words
from tierdeck_tui.view.promotion.tier_history import tier_history_lines
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.wrap import wrap

_INDENT = "   "


def explanation_lines(
    found: Explanation, row: NodeRow, moves: Sequence[TierMove] = (), cells: int = 80
) -> list[Line]:
    """The memory, each criterion with found and needed, what blocks it, its accesses, what happened to it.

    Args:
        moves: the family's log of it, oldest first; the history has both logs, oldest first.
        cells: none of the lines is wider.
    """
    lines = [
        line(Piece(safe(row.id), "muted"), "  ", Piece(safe(found.facts.tier), "tier")),
        excerpt_line(row, cells),
        *decision_lines(found.decision, cells),
    ]
    said = [
        line(Piece(hold_words(found.hold), "warning")) if found.hold else None,
        line(Piece(DISMISSED_WORDS, "warning")) if found.hold and found.is_dismissed else None,
        line(Piece(clock_note(found.facts.future), "warning")) if found.facts.future else None,
        _accesses(found, row),
        line(Piece(f"counted as unused since {local_time(found.facts.last_use_ms)}", "muted")),
    ]
    lines += [part for one in said if one is not None for part in wrap(one, cells)]
    history = tier_history_lines(found.history, moves)
    if history:
        lines.append(line(Piece("what happened to it:", "strong")))
        lines += [part for one in history for part in _indented(one, cells)]
    return lines


def _accesses(found: Explanation, row: NodeRow) -> Line:
    used = found.accesses
    recorded = f"{counted(used.pulls, 'pull')} recorded in {counted(used.roots, 'root session')}"
    fewer = f" ({count(found.facts.sessions)} of them since the latest move by hand, which count)"
    counting = fewer if found.facts.sessions < used.roots else ""
    other = f"{counted(used.pushes, 'push', 'pushes')}, which no rule counts"
    return line(
        f"{recorded}{counting} · {other} · {count(row.access_count)} by its own counter, with other programs"
    )


def _indented(one: Line, cells: int) -> list[Line]:
    return [(Piece(_INDENT), *part) for part in wrap(one, max(10, cells - len(_INDENT)))]
