"""`tierdeck purge`: the one verb that nothing takes back, so it asks twice."""

from __future__ import annotations

import click

from tierdeck.errors import EXIT_PARTLY_DONE
from tierdeck.maintenance.purge import PurgePreview, PurgeReport, preview_purge, purge
from tierdeck.model import NodeRow
from tierdeck.store import Store, read_rows
from tierdeck_tui.cli.ask import confirm, confirm_by_typing
from tierdeck_tui.cli.ids import ids_argument, resolved
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.line import text_of

_FLAG = "--yes-really"
_EXCERPT_CELLS = 60
_MAX_SAID = 10


@click.command("purge", cls=Verb)
@ids_argument
@click.option("--reason", default="it held a secret", show_default=True, help="Why; it stays in the history.")
@click.option("--dry-run", is_flag=True, help="Only say what would go, and what would still hold it.")
@click.option(_FLAG, "is_sure", is_flag=True, help="Do not ask, neither once nor twice.")
@click.pass_obj
def purge_verb(run: Run, /, ids: tuple[str, ...], reason: str, dry_run: bool, is_sure: bool) -> int:
    """Remove the text of memories for good, with its changes, vectors and search terms: for secrets.

    Nothing takes it back: `tierdeck archive` is the way to put a memory aside. Backups are not touched, only
    listed. Ends with 10 when bytes of it may still stand in a file.
    """
    with run.open() as store:
        preview = preview_purge(store, resolved(store, ids))
        if dry_run:
            _put_preview(run, store, preview)
            return 0
        if not is_sure:
            _say_preview(store, preview)
        question = f"remove the text of {counted(len(preview.ids), 'memory', 'memories')} for good?"
        confirm("purge memories", question, is_sure=is_sure, flag=_FLAG)
        short = preview.ids[0][:8]
        confirm_by_typing("purge memories", f"type {short} to do it", short, is_sure=is_sure, flag=_FLAG)
        report = purge(store, preview.ids, actor=run.actor, reason=reason)
    _put_report(run, report)
    return 0 if report.is_erased else EXIT_PARTLY_DONE


def _put_preview(run: Run, store: Store, preview: PurgePreview) -> None:
    if run.is_json:
        put_json({"is_dry_run": True, "purge": preview})
        return
    put("\n".join(preview.ids))
    _say_preview(store, preview)


def _say_preview(store: Store, preview: PurgePreview) -> None:
    rows = store.read(lambda conn: read_rows(conn, preview.ids[:_MAX_SAID]))
    for row in rows.values():
        talk(f"  {_said(row)}")
    if len(preview.ids) > _MAX_SAID:
        talk(f"  and {len(preview.ids) - _MAX_SAID} more")
    if preview.revisions:
        talk(f"with {counted(preview.revisions, 'change')} of their history")
    _say_rest(preview)


def _put_report(run: Run, report: PurgeReport) -> None:
    if run.is_json:
        put_json({"is_dry_run": False, "purge": report})
    else:
        put("\n".join(report.ids))
    vectors = counted(report.vectors, "vector")
    changes = counted(report.revisions, "change")
    talk(f"purged {counted(len(report.ids), 'memory', 'memories')}, {changes}, {vectors}")
    for note in report.notes:
        talk(f"not erased: {note}")
    _say_rest(report)


def _say_rest(found: PurgePreview | PurgeReport) -> None:
    """What holds the same text elsewhere, and is not touched."""
    if found.copies:
        talk(f"{counted(len(found.copies), 'other memory holds', 'other memories hold')} the same: purge them too")
        for node_id in found.copies[:_MAX_SAID]:
            talk(f"  {node_id}")
    for path in found.backups:
        talk(f"still in the backup {path}")


def _said(row: NodeRow) -> str:
    text = text_of(excerpt_line(row, _EXCERPT_CELLS)).rstrip()
    return f"{row.short_id}  {row.tier.value} {row.type.value}  {text}"
