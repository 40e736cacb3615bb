"""`tierdeck sweep` and `what-if`: the rules over the whole store, and what other numbers would move."""

from __future__ import annotations

import click

from tierdeck.config import Origin
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.outlook.sweep import apply_sweep
from tierdeck.promote.outlook.sweep_plan import SweepPlan, plan_sweep
from tierdeck.promote.outlook.what_if import what_if
from tierdeck.promote.records import RunReport
from tierdeck.promote.rules import rules_of
from tierdeck_tui.cli.frame import STOPPED
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.report import exit_code
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import count
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.promotion.move_preview_lines import sweep_plan_lines
from tierdeck_tui.view.promotion.run_line import report_lines
from tierdeck_tui.view.promotion.sweep_form import sweep_plan_form, what_if_form
from tierdeck_tui.view.promotion.what_if_lines import what_if_lines


@click.command("sweep", cls=Verb)
@click.option("--dry-run", is_flag=True, help="Only say what would move.")
@click.option("--apply", "is_confirmed", is_flag=True, help="Move it, also where a sweep wants to be confirmed.")
@click.pass_obj
def sweep_verb(run: Run, /, dry_run: bool, is_confirmed: bool) -> int:
    """Apply the rules to the whole store, for cron: what is due moves, and what is unused goes to the archive.

    A store's first sweep, and one that would archive more than a tenth of longterm, only says what would move
    unless --apply is given. Nothing is ever deleted. Ctrl+C stops between two chunks; running it again goes on.
    Ends with 10 when some were refused.
    """
    if dry_run and is_confirmed:
        raise click.UsageError("--dry-run and --apply exclude each other")
    with run.open() as store:
        rules = rules_of(run.settings.promotion)
        plan = plan_sweep(store, rules, store.now_ms())
        is_dry = dry_run or (plan.needs_confirmation is not None and not is_confirmed)
        if is_dry:
            _put_plan(run, plan)
            if not dry_run:
                talk("nothing was moved: it wants to be confirmed; `tierdeck sweep --apply` moves it")
            return 0
        with stop_flag() as should_stop, ProgressBar("sweeping") as bar:
            report = apply_sweep(
                store,
                plan,
                rules=rules,
                actor=run.actor,
                confirmed=is_confirmed,
                pace=Pace(bar.show, should_stop),
            )
    return _put_report(run, plan, report, is_stopped=should_stop())


@click.command("what-if", cls=Verb)
@click.option("--session-pulls", type=int, metavar="N", help="Pulls within one session, from task to session.")
@click.option("--longterm-sessions", type=int, metavar="N", help="Root sessions, from session to longterm.")
@click.option("--longterm-successes", type=int, metavar="N", help="Successful ones among them.")
@click.option("--longterm-confidence", type=float, metavar="X", help="Confidence held over the latest, 0 to 1.")
@click.option("--archive-days", type=int, metavar="N", help="Days unused, from longterm to the archive.")
@click.pass_obj
def what_if_verb(run: Run, /, **numbers: int | float | None) -> None:
    """Say what other numbers in the rules would move; nothing is changed.

    The settings [promotion] keep the numbers in force.
    """
    given = {name: value for name, value in numbers.items() if value is not None}
    if not given:
        raise click.UsageError("give at least one number, such as --session-pulls 3")
    loaded = run.loaded
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        loaded = loaded.with_value(f"promotion.{name}", value, Origin("flag", flag))
    with run.open() as store:
        rules, other = rules_of(run.settings.promotion), rules_of(loaded.settings.promotion)
        found = what_if(store, rules, other, store.now_ms())
    if run.is_json:
        put_json(masked_form(what_if_form(found, rules, other), reveal=False))
    else:
        put_lines(what_if_lines(found, width_cells()))
    if rules == other:
        talk("these are the numbers in force")


def _put_plan(run: Run, plan: SweepPlan) -> None:
    if run.is_json:
        put_json(masked_form({"is_dry_run": True, "plan": sweep_plan_form(plan), "report": None}, reveal=False))
    else:
        put_lines(sweep_plan_lines(plan, width_cells()))


def _put_report(run: Run, plan: SweepPlan, report: RunReport, *, is_stopped: bool) -> int:
    planned = plan.due_rows
    if run.is_json:
        put_json(masked_form({"is_dry_run": False, "plan": sweep_plan_form(plan), "report": report}, reveal=False))
    else:
        put(f"moved {count(len(report.moved))} of {count(planned)}")
    for each in report_lines(report)[0 if report.run_id is not None else 1 :]:
        talk(text_of(each))
    if not planned:
        talk("nothing is due")
    if is_stopped:
        talk("stopped; what was moved stays moved, and the same command again does the rest")
        return STOPPED
    return exit_code(report)
