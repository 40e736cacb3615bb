"""`tierdeck approve` and `dismiss`: a person's word on what the rules would move."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.holds import dismiss
from tierdeck.promote.outlook.candidates import candidates
from tierdeck.promote.rules import RuleName, Rules, rules_of
from tierdeck.store import Store
from tierdeck_tui.cli.ask import confirm
from tierdeck_tui.cli.ids import resolved
from tierdeck_tui.cli.output import put_json, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.report import put_report
from tierdeck_tui.cli.rule_options import rule_option
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import counted

_PAGE_ROWS = 500


@click.command("approve", cls=Verb)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "takes_all", is_flag=True, help="Every candidate, as `tierdeck candidates` lists them.")
@rule_option
@click.option("--reason", help="Why; it stands in the log.")
@click.option("--yes", is_flag=True, help="Do not ask before several are moved.")
@click.pass_obj
def approve_verb(
    run: Run, /, ids: tuple[str, ...], takes_all: bool, rule: RuleName | None, reason: str | None, yes: bool
) -> int:
    """Move candidates now, as their rule would; also those that only a person brings back from the archive.

    Prints the ids that were moved. What is no candidate is refused with what it lacks. - reads ids from stdin.
    Ends with 10 when some were refused.
    """
    if takes_all == bool(ids):
        raise click.UsageError("give ids or --all, one of them")
    if rule is not None and not takes_all:
        raise click.UsageError("--rule goes with --all")
    with run.open() as store:
        rules = rules_of(run.settings.promotion)
        asked = _all_ids(store, rules, rule) if takes_all else resolved(store, ids)
        if not asked:
            if run.is_json:
                put_json({"run_id": None, "moved": [], "refused": []})
            talk("no candidates to approve")
            return 0
        if len(asked) > 1:
            question = f"move {counted(len(asked), 'candidate')}, each by its rule?"
            confirm("approve candidates", question, is_sure=yes)
        with stop_flag() as should_stop, ProgressBar("moving") as bar:
            pace = Pace(bar.show, should_stop)
            report = approve(store, asked, rules=rules, actor=run.actor, reason=reason, pace=pace)
    return put_report(run, report, "moved", is_stopped=should_stop())


@click.command("dismiss", cls=Verb)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", help="Why; it stands in the log.")
@click.pass_obj
def dismiss_verb(run: Run, /, ids: tuple[str, ...], reason: str | None) -> int:
    """Leave candidates where they are until they are pulled again or moved.

    Prints the ids that were dismissed; what is no candidate is refused. - reads ids from stdin.
    """
    with run.open() as store:
        asked = resolved(store, ids)
        rules = rules_of(run.settings.promotion)
        with stop_flag() as should_stop, ProgressBar("dismissing") as bar:
            pace = Pace(bar.show, should_stop)
            report = dismiss(store, asked, actor=run.actor, reason=reason, rules=rules, pace=pace)
    return put_report(run, report, "dismissed", is_stopped=should_stop())


def _all_ids(store: Store, rules: Rules, rule: RuleName | None) -> Sequence[str]:
    found: list[str] = []
    page = candidates(store, rules, store.now_ms(), rule=rule, limit_rows=_PAGE_ROWS)
    while True:
        found += [each.row.id for each in page.rows]
        if page.next is None:
            return found
        page = candidates(store, rules, store.now_ms(), rule=rule, after=page.next, limit_rows=_PAGE_ROWS)
