"""A run over several memories: in a list, and what one that just ended did. Pure."""

from __future__ import annotations

from tierdeck.promote.records import Refused, Run, RunReport
from tierdeck_tui.view.decision_lines import duration_words
from tierdeck_tui.view.format import count, counted, local_time
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.safe_text import safe

_MAX_REFUSED = 20


def run_lines(run: Run, cells: int = 80) -> tuple[Line, Line]:
    """Two lines of a list, each exactly `cells` wide: when, what, how many; below, who, why, what was lacked."""
    head = line(
        Piece(f"#{count(run.id)} ", "strong"),
        Piece(f"{local_time(run.at_ms)}  ", "muted"),
        Piece(f"{run.kind}  ", "type"),
        Piece(f"{moved_words(run)}  "),
        _state(run),
    )
    return fit(head, cells), fit([Piece("   "), *_who_and_why(run)], cells)


def moved_words(run: Run) -> str:
    """`moved 120 of 130, 3 refused`."""
    refused = f", {count(run.refused)} refused" if run.refused else ""
    return f"moved {count(run.moved)} of {count(run.planned)}{refused}"


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
        return Piece("not ended: still going on, or stopped", "warning")
    return Piece(f"in {duration_words(run.ended_at_ms - run.at_ms)}", "muted")


def _who_and_why(run: Run) -> list[Piece]:
    pieces = [Piece(f"by {safe(run.actor)}", "muted")]
    if run.reason:
        pieces.append(Piece(f" · {safe(run.reason)}"))
    if run.rejections:
        pieces.append(Piece(f" · lacked: {rejection_words(run)}", "muted"))
    if run.rule_version:
        pieces.append(Piece(f" · rules {safe(run.rule_version)}", "muted"))
    return pieces
