"""A run over several memories: in a list, and what one that just ended did. Pure."""

from __future__ import annotations

from tierdeck.promote.records import Refused, Run, RunReport
from tierdeck_tui.view.format import count, counted, local_time
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.promotion.decision_lines import duration_words
from tierdeck_tui.view.safe_text import safe

_MAX_REFUSED = 20


def run_lines(run: Run, cells: int = 80, *, undone: int = 0) -> tuple[Line, Line]:
    """Two lines of a list, each exactly `cells` wide: when, what, how many; below, who, why, what was lacked.

    Args:
        undone: how many of its rows were taken back.
    """
    head = line(
        Piece(f"#{count(run.id)} ", "strong"),
        Piece(f"{local_time(run.at_ms)}  ", "muted"),
        Piece(f"{run.kind}  ", "type"),
        Piece(moved_words(run)),
        Piece(f"  {undone_words(run, undone)}" if undone else "", "warning"),
        _state(run),
    )
    return fit(head, cells), fit([Piece("   "), *_who_and_why(run)], cells)


def moved_words(run: Run) -> str:
    """`moved 120 of 130, 3 refused`."""
    refused = f", {count(run.refused)} refused" if run.refused else ""
    return f"moved {count(run.moved)} of {count(run.planned)}{refused}"


def undone_words(run: Run, undone: int) -> str:
    """`taken back`, or `3 of 37 taken back`; empty for none."""
    if not undone:
        return ""
    return "taken back" if undone >= run.moved else f"{count(undone)} of {count(run.moved)} taken back"


def lasted_words(run: Run) -> str:
    """How long it took, from a second on: `12 s`; empty below, and for one that did not end."""
    lasted_ms = 0 if run.ended_at_ms is None else run.ended_at_ms - run.at_ms
    return duration_words(lasted_ms) if lasted_ms >= 1_000 else ""


def rejection_words(run: Run) -> str:
    """How many memories failed each criterion: `sessions 12, successes 3`; empty for none."""
    return ", ".join(f"{safe(name)} {count(number)}" for name, number in run.rejections)


def report_lines(report: RunReport, done: str = "moved", *, limit_rows: int = _MAX_REFUSED) -> list[Line]:
    """What a run did, and each memory that it left as it was with the reason.

    Args:
        done: what was done to the memories, "moved", "held", "dismissed".
    """
    lines = [line(report_words(report, done))]
    lines += [refused_line(refused) for refused in report.refused[:limit_rows]]
    if len(report.refused) > limit_rows:
        lines.append(line(Piece(f"  and {count(len(report.refused) - limit_rows)} more", "muted")))
    return lines


def report_words(report: RunReport, done: str = "moved") -> str:
    """`moved 3 memories, 1 refused (run 12)`."""
    refused = f", {count(len(report.refused))} refused" if report.refused else ""
    run = f" (run {report.run_id})" if report.run_id is not None else ""
    return f"{done} {counted(len(report.moved), 'memory', 'memories')}{refused}{run}"


def refused_line(refused: Refused) -> Line:
    """`  aaaa1111  held by ops: keep; it is in longterm`."""
    # Most reasons name the tier already.
    is_told = refused.tier_now is None or refused.tier_now in refused.why
    now = "" if is_told else f"; it is in {safe(refused.tier_now)}"
    return line(
        Piece(f"  {safe(refused.node_id)[:8]:<8}  ", "strong"), Piece(f"{safe(refused.why)}{now}", "warning")
    )


def _state(run: Run) -> Piece:
    if run.ended_at_ms is None:
        return Piece("  not ended: still going on, or stopped", "warning")
    lasted = lasted_words(run)
    return Piece(f"  in {lasted}" if lasted else "", "muted")


def _who_and_why(run: Run) -> list[Piece]:
    pieces = [Piece(f"by {safe(run.actor)}", "muted")]
    if run.reason:
        pieces.append(Piece(f" · {safe(run.reason)}"))
    if run.rejections:
        pieces.append(Piece(f" · lacked: {rejection_words(run)}", "muted"))
    if run.rule_version:
        pieces.append(Piece(f" · rules {safe(run.rule_version)}", "muted"))
    return pieces
