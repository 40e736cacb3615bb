"""What a run over memories did, as every verb of promotion says it: ids to stdout, the rest to stderr."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tierdeck.errors import EXIT_PARTLY_DONE, ConflictError
from tierdeck.promote.records import RunReport
from tierdeck_tui.cli.frame import STOPPED
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.promotion.run_line import report_lines


def put_report(
    run: Run, report: RunReport, done: str, *, unchanged: Collection[str] = (), is_stopped: bool = False
) -> int:
    """Write what was done, and give the exit code: 10 when some were refused, 5 when all were, 130 when stopped.

    Args:
        done: the word for it, "moved"; under `--json` the key of the list of ids.
        unchanged: memories that stood so already, which is no refusal.
        is_stopped: Ctrl+C ended it before its end.
    """
    known = frozenset(unchanged)
    stood = [each.node_id for each in report.refused if each.node_id in known]
    report = replace(report, refused=tuple(each for each in report.refused if each.node_id not in known))
    if run.is_json:
        document = {"run_id": report.run_id, done: report.moved, "refused": report.refused, "unchanged": stood}
        put_json(masked_form(document, reveal=False))
    elif report.moved:
        put("\n".join(report.moved))
    for each in report_lines(report, done):
        talk(text_of(each))
    if stood:
        talk(f"{counted(len(stood), 'memory', 'memories')} stood so already")
    if is_stopped:
        talk(stopped_words(done))
        return STOPPED
    return exit_code(report)


def stopped_words(done: str) -> str:
    """That Ctrl+C ended it before its end."""
    return f"stopped; what was {done} stays so, and the same command again does the rest"


def exit_code(report: RunReport) -> int:
    """0 when nothing was refused, 10 when something was, 5 when everything was."""
    if not report.refused:
        return 0
    return EXIT_PARTLY_DONE if report.moved else ConflictError.exit_code
