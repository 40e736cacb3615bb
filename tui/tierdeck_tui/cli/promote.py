"""`tierdeck promote`: memories moved to another tier by hand, with a reason, after a look at what would happen."""

from __future__ import annotations

import click

from tierdeck.model import Tier
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.override import OverridePreview, override_tier, preview_override
from tierdeck.promote.reason import checked_reason
from tierdeck.promote.rules import rules_of
from tierdeck.store import Store, read_rows
from tierdeck_tui.cli.ask import confirm
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
from tierdeck_tui.view.line import Line, text_of
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.promotion.decision_form import decision_form
from tierdeck_tui.view.promotion.move_preview_lines import override_preview_lines


@click.command("promote", cls=Verb)
@ids_argument
@click.option(
    "--to",
    "tier",
    type=click.Choice([each.value for each in Tier]),
    required=True,
    help="The tier to move them to.",
)
@click.option("--reason", required=True, help="Why; it stands in the log.")
@click.option(
    "--no-hold", is_flag=True, help="Let the rules move them again; else they are held where they are put."
)
@click.option("--until", metavar="WHEN", help="Hold them until then: 30d, 2027-03-01; else without end.")
@click.option("--held", "with_held", is_flag=True, help="Of several, move held ones too.")
@click.option("--dry-run", is_flag=True, help="Only say what would move.")
@click.option("--yes", is_flag=True, help="Do not ask before several are moved.")
@click.pass_obj
def promote_verb(
    run: Run,
    /,
    ids: tuple[str, ...],
    tier: str,
    reason: str,
    no_hold: bool,
    until: str | None,
    with_held: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    """Move memories to any tier by hand, and hold them there so that no rule moves them back.

    Prints the ids that were moved. Says first what moves, what is held and what the rules say. Pulls from before
    the move no longer count. - reads ids from stdin. `tierdeck undo ID` takes it back. Ends with 10 when some were
    refused.
    """
    if no_hold and until is not None:
        raise click.UsageError("--no-hold and --until exclude each other")
    checked_reason(reason, "move memories")  # before any question
    with run.open() as store:
        asked, to_tier = resolved(store, ids), Tier(tier)
        until_ms = later(until, store.now_ms())
        rules = rules_of(run.settings.promotion)
        preview = preview_override(store, asked, to_tier, rules=rules, with_held=with_held)
        if dry_run:
            _put_preview(run, store, preview)
            return 0
        _ask(store, preview, is_sure=yes)
        with stop_flag() as should_stop, ProgressBar("moving") as bar:
            report = override_tier(
                store,
                asked,
                to_tier,
                actor=run.actor,
                reason=reason,
                hold=not no_hold,
                until_ms=until_ms,
                with_held=with_held,
                seen=preview.seen,
                rules=rules,
                pace=Pace(bar.show, should_stop),
            )
    return put_report(run, report, "moved", unchanged=preview.unchanged, is_stopped=should_stop())


def _ask(store: Store, preview: OverridePreview, *, is_sure: bool) -> None:
    for each in _lines(store, preview, width_cells()):
        talk(text_of(each).rstrip())
    if len(preview.moves) > 1:
        question = f"move {counted(len(preview.moves), 'memory', 'memories')} to {preview.to_tier}?"
        confirm("move memories", question, is_sure=is_sure)


def _put_preview(run: Run, store: Store, preview: OverridePreview) -> None:
    if run.is_json:
        moves = [
            {"node_id": move.node_id, "from_tier": move.from_tier, "decision": decision_form(move.decision)}
            for move in preview.moves
        ]
        document = {
            "is_dry_run": True,
            "to_tier": preview.to_tier,
            "moves": moves,
            "held": preview.held,
            "unchanged": preview.unchanged,
        }
        put_json(masked_form(document, reveal=False))
    else:
        put_lines(_lines(store, preview, width_cells()))


def _lines(store: Store, preview: OverridePreview, cells: int) -> list[Line]:
    ids = [move.node_id for move in preview.moves]
    rows = store.read(lambda conn: read_rows(conn, ids))
    return override_preview_lines(preview, rows, cells)
