"""What a restore would do, in sentences an operator can say yes to: what changes, what is lost, what asks. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tierdeck.checkpoint.family import DEGRADED
from tierdeck_tui.reading.restore_plan import RestorePlan
from tierdeck_tui.view.checkpoint.diff import diff_lines
from tierdeck_tui.view.checkpoint.state import cost_words
from tierdeck_tui.view.checkpoint.variables import loss_lines, losses_words
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.wrap import wrap

MAX_LISTED = 10


def plan_lines(plan: RestorePlan, cells: int = 80, *, new_session_id: str | None = None) -> list[Line]:
    """The plan without its calls, which have their choices; lines of at most `cells`, long lists cut.

    Args:
        new_session_id: what a fork is to be called instead of what the plan says.
    """
    sentences = [
        _what(plan, new_session_id or plan.new_session_id),
        *_degraded(plan),
        _safety(plan),
        *_how(plan),
        _cost(plan),
    ]
    lines = [part for sentence in sentences for part in wrap(line(*sentence), cells)]
    lines += [part for each in plan.problems for part in wrap(line(Piece(safe(each), "warning")), cells)]
    lines += _change_lines(plan, cells)
    if plan.losses:
        lines += wrap(line(Piece(f"the checkpoint lacks: {losses_words(plan.losses)}", "warning")), cells)
        lines += _indented(loss_lines(plan.losses[:MAX_LISTED], cells - 2), len(plan.losses), cells)
    return lines


def typed_answer(plan: RestorePlan) -> str:
    """What an operator types to confirm: the turn that the session goes back to."""
    return str(plan.target.turn)


def _what(plan: RestorePlan, new_session_id: str | None) -> list[Piece]:
    where = f"checkpoint {plan.target.sequence} of {safe(plan.session_id)}, turn {plan.target.turn}"
    if plan.mode == "fork":
        new = safe(new_session_id) if new_session_id else f"{safe(plan.session_id)}-fork-…"
        return [
            Piece("fork ", "strong"),
            Piece(f"{where}: a new session {new} begins there; the old one stays as it is"),
        ]
    return [Piece("rewind ", "strong"), Piece(f"{where}: the session itself goes back there")]


def _degraded(plan: RestorePlan) -> list[list[Piece]]:
    summary = plan.target.summary
    why = None if summary is None else summary.writer.get(DEGRADED)
    return [] if why is None else [[Piece(f"it is poorer than the session was ({safe(why)})", "warning")]]


def _safety(plan: RestorePlan) -> list[Piece]:
    if plan.mode == "fork":
        return [Piece("nothing that exists is changed", "good")]
    later = counted(len(plan.later), "later checkpoint stays", "later checkpoints stay")
    left = f"; {later} as a branch that is left" if plan.later else ""
    if plan.is_live:
        return [Piece(f"first the agent keeps its present in a pre-restore checkpoint{left}", "good")]
    if plan.present is None or plan.present.state in ("damaged", "newer"):
        return [Piece(f"where it stands now can't be read, so there is no way back to that{left}", "warning")]
    return [
        Piece(
            f"where it stands now stays: checkpoint {plan.present.sequence}, turn {plan.present.turn}{left}", "good"
        )
    ]


def _how(plan: RestorePlan) -> list[list[Piece]]:
    if plan.mode == "fork":
        return []
    if plan.is_live:
        asked = "an agent is running: it is asked, and answers at the end of its turn"
        return [[Piece(f"{asked}; what it does until then is left too, and its calls are asked about", "warning")]]
    return [[Piece("no agent is running: it is done at once", "muted")]]


def _cost(plan: RestorePlan) -> list[Piece]:
    summary = plan.target.summary
    there = cost_words(summary.cost_so_far if summary is not None else None)
    return [Piece(f"cost up to there {there}, of the whole session {cost_words(plan.session_cost)}; ", "muted"),
            Piece("no restore takes back what was spent", "muted")]  # fmt: skip


def _change_lines(plan: RestorePlan, cells: int) -> list[Line]:
    if plan.mode == "fork" or plan.present is None:
        return []
    if plan.present.file == plan.target.file:
        return [line(Piece("the session stands there already", "muted"))]
    if plan.changes is None:
        return [line(Piece("what changes can't be told: the present can't be read", "warning"))]
    lines = [line(Piece("what differs, from now to then:", "strong"))]
    return lines + diff_lines(plan.changes, cells, limit_rows=MAX_LISTED)


def _indented(rows: Sequence[Line], total: int, cells: int) -> list[Line]:
    lines = [(Piece("  "), *row) for row in rows]
    if total > MAX_LISTED:
        lines.append(fit([Piece(f"  and {count(total - MAX_LISTED)} more", "muted")], cells))
    return lines
