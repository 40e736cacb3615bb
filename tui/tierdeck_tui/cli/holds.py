"""`tierdeck hold`, `release` and `holds`: memories that no rule moves."""

from __future__ import annotations

import click

from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.holds import hold, holds, release
from tierdeck_tui.cli.ids import ids_argument, resolved
from tierdeck_tui.cli.output import put_json, put_lines, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.report import put_report
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.cli.when import later
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.promotion.hold_line import hold_lines


@click.command("hold", cls=Verb)
@ids_argument
@click.option("--reason", required=True, help="Why; it stands in the log.")
@click.option("--until", metavar="WHEN", help="Until then: 30d, 2027-03-01; else without end.")
@click.pass_obj
def hold_verb(run: Run, /, ids: tuple[str, ...], reason: str, until: str | None) -> int:
    """Keep memories in their tier: no rule moves them until they are released.

    Prints the ids that are held now. - reads ids from stdin.
    """
    with run.open() as store:
        asked = resolved(store, ids)
        until_ms = later(until, store.now_ms())
        with stop_flag() as should_stop, ProgressBar("holding") as bar:
            pace = Pace(bar.show, should_stop)
            report = hold(store, asked, actor=run.actor, reason=reason, until_ms=until_ms, pace=pace)
    return put_report(run, report, "held", is_stopped=should_stop())


@click.command("release", cls=Verb)
@ids_argument
@click.option("--reason", help="Why; it stands in the log.")
@click.pass_obj
def release_verb(run: Run, /, ids: tuple[str, ...], reason: str | None) -> int:
    """End the hold of memories: the rules may move them again.

    Prints the ids that were released; what is not held is refused. - reads ids from stdin.
    """
    with run.open() as store:
        asked = resolved(store, ids)
        with stop_flag() as should_stop, ProgressBar("releasing") as bar:
            report = release(store, asked, actor=run.actor, reason=reason, pace=Pace(bar.show, should_stop))
    return put_report(run, report, "released", is_stopped=should_stop())


@click.command("holds", cls=Verb)
@click.pass_obj
def holds_verb(run: Run, /) -> None:
    """List the memories that are held, the latest first, and say which another program moved all the same."""
    with run.open() as store:
        check_tracked(store)
        found = holds(store, now_ms=store.now_ms())
    if run.is_json:
        put_json(masked_form({"holds": found}, reveal=False))
    else:
        put_lines(each for one in found for each in hold_lines(one, width_cells()))
    moved = sum(one.moved_to is not None for one in found)
    if moved:
        talk(f"{counted(moved, 'held memory was', 'held memories were')} moved by another program")
    if not found:
        talk("nothing is held")
