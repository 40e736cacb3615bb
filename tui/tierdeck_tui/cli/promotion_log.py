"""`tierdeck log` and `runs`: what was moved, by whom and why, and whether the log is still whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import get_args

import click

from tierdeck.errors import DamagedStoreError, NotFoundError
from tierdeck.model import Tier
from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.promote.log.check import verify_log
from tierdeck.promote.log.entries import count_entries, entries
from tierdeck.promote.log.kept_head import HEAD, kept_head
from tierdeck.promote.log.undone import undone_in
from tierdeck.promote.moves.runs import runs
from tierdeck.promote.records import LogFilter, LogKind
from tierdeck.promote.rules import RuleName
from tierdeck.store import Store, read_rows, resolve_id
from tierdeck_tui.cli.begun import Begun
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.path_argument import path_of
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.cli.when import begin_of, end_of
from tierdeck_tui.reading.promotion_items import undone_by_run
from tierdeck_tui.view.format import count, counted, local_time
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.promotion.log_line import log_lines
from tierdeck_tui.view.promotion.run_line import run_lines

_LIMIT = click.IntRange(min=1)


@click.command("log", cls=Verb)
@click.argument("action", type=click.Choice(["verify"]), required=False, metavar="[verify]")
@click.option("--against", metavar="FILE|HEAD", help="With verify: a backup, an export, or a head written down.")
@click.option("--node", metavar="ID", help="Only of this memory.")
@click.option("--actor", metavar="NAME", help="Only by them; exactly so.")
@click.option("--tier", type=Begun([each.value for each in Tier]), help="Only from or to this tier.")
@click.option("--rule", type=Begun(get_args(RuleName)), help="Only by this rule.")
@click.option("--kind", type=Begun(get_args(LogKind)), help="Only of this kind.")
@click.option("--run", "run_id", type=int, metavar="N", help="Only of this run, as `tierdeck runs` numbers it.")
@click.option("--since", metavar="WHEN", help="Only since then: 7d, 12h, 2026-03-01.")
@click.option("--until", metavar="WHEN", help="Only until then; a day is in.")
@click.option("--limit", type=_LIMIT, metavar="N", help="How many at most; 50 when it is not given.")
@click.pass_obj
def log_verb(
    run: Run,
    /,
    action: str | None,
    against: str | None,
    node: str | None,
    actor: str | None,
    tier: str | None,
    rule: RuleName | None,
    kind: LogKind | None,
    run_id: int | None,
    since: str | None,
    until: str | None,
    limit: int | None,
) -> int:
    """Show what was moved, held and taken back, by whom and why, the newest first.

    `tierdeck log verify` looks through the whole log instead, names the first row that does not fit, and then ends
    with 3. Rows cut off the end show against the head that the store keeps, or that a backup or export kept.
    """
    if action == "verify":
        if any(each is not None for each in (node, actor, tier, rule, kind, run_id, since, until, limit)):
            raise click.UsageError("verify looks at the whole log; it takes --against only")
        return _verify(run, against)
    if against is not None:
        raise click.UsageError("--against goes with verify")
    with run.open() as store:
        check_tracked(store)
        now = store.now_ms()
        chosen = LogFilter(
            node_id=_node_id(store, node),
            actor=actor,
            tier=tier,
            rule=rule,
            kind=kind,
            run_id=run_id,
            since_ms=begin_of(since, now),
            until_ms=end_of(until, now),
        )
        _put_rows(run, store, chosen, limit or 50)
    return 0


@click.command("runs", cls=Verb)
@click.option("--limit", type=_LIMIT, default=50, show_default=True, metavar="N", help="How many at most.")
@click.pass_obj
def runs_verb(run: Run, /, limit: int) -> None:
    """List the runs over several memories, the newest first: sweeps, moves by hand, undos, ends of sessions.

    `tierdeck log --run N` lists what one of them moved, `tierdeck undo --run N` takes it back.
    """
    with run.open() as store:
        check_tracked(store)
        found = runs(store, limit_rows=limit)
        undone = undone_by_run(store, found)
    if run.is_json:
        forms = [{**asdict(one), "undone": undone.get(one.id, 0)} for one in found]
        put_json(masked_form({"runs": forms}, reveal=False))
    else:
        put_lines(each for one in found for each in run_lines(one, width_cells(), undone=undone.get(one.id, 0)))
    if not found:
        talk("there was no run yet")


def _node_id(store: Store, text: str | None) -> str | None:
    """The memory that is meant; the log also has rows of memories that are gone, by their full id."""
    if text is None:
        return None
    try:
        return resolve_id(store, text)
    except NotFoundError:
        if count_entries(store, LogFilter(node_id=text)):
            return text
        raise


def _put_rows(run: Run, store: Store, chosen: LogFilter, limit: int) -> None:
    found = entries(store, chosen, limit_rows=limit)
    total = len(found) if len(found) < limit else count_entries(store, chosen)
    if run.is_json:
        put_json(masked_form({"log": found, "total": total}, reveal=False))
    else:
        ids = list(dict.fromkeys(entry.node_id for entry in found))
        rows, undone = store.read(lambda conn: (read_rows(conn, ids), undone_in(conn, ids)))
        put_lines(
            each
            for entry in found
            for each in log_lines(entry, rows.get(entry.node_id), width_cells(), is_undone=entry.id in undone)
        )
    if total > len(found):
        talk(f"{count(total - len(found))} older ones; --limit shows more of them")
    if not found:
        talk("the log has no such row" if chosen != LogFilter() else "the log is empty: nothing was moved yet")


def _verify(run: Run, against: str | None) -> int:
    head = None if against is None else _head(against)
    with run.open() as store, stop_flag() as should_stop, ProgressBar("verifying") as bar:
        check_tracked(store)
        check = verify_log(store, head=head, on_progress=bar.show, should_stop=should_stop)
    is_good = check.problem is None
    if run.is_json:
        put_json(masked_form({"check": check, "is_good": is_good}, reveal=False))
    elif is_good:
        put(f"good: {counted(check.rows, 'row')}, head {check.head}")
    else:
        put(f"NOT GOOD: {check.problem}")
    for each in check.breaks:
        when = f"{local_time(each.at_ms)} by {each.actor}: {each.reason}"
        talk(f"a break was accepted {when} (from {each.old_head} to {each.new_head})")
    if is_good and against is None:
        talk("keep the head elsewhere, or a backup: a log written anew with its head can't be told by itself")
    return 0 if is_good else DamagedStoreError.exit_code


def _head(against: str) -> str:
    return against if HEAD.fullmatch(against) else kept_head(path_of(against))
