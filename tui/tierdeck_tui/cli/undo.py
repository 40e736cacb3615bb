"""`tierdeck undo`: the newest thing done to a memory taken back, be it a change or a move; or a whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import click

from tierdeck.errors import EXIT_PARTLY_DONE, ConflictError, NotFoundError
from tierdeck.model import Revision
from tierdeck.promote.log.entries import entries, entry
from tierdeck.promote.moves.chunks import Pace, chunks
from tierdeck.promote.moves.undo import undo_move, undo_run, undoable
from tierdeck.promote.records import LogEntry, LogFilter, Refused
from tierdeck.store import Store, redo, revisions, undo
from tierdeck_tui.cli.frame import STOPPED
from tierdeck_tui.cli.ids import resolved
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.report import put_report
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.reading.run_undo import read_run_undo
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.newest_deed import Deed, newest_deed, newest_undo
from tierdeck_tui.view.promotion.log_line import deed_words
from tierdeck_tui.view.promotion.run_line import refused_line
from tierdeck_tui.view.promotion.run_undo_lines import nothing_to_undo
from tierdeck_tui.view.promotion.undone_evidence import evidence_note

_MAX_ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which deed is to be taken back; without any of these the newest."""

    actor: str
    reason: str | None
    revision: int | None
    log_id: int | None
    is_redo: bool


@click.command("undo", cls=Verb)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--revision", type=int, metavar="N", help="Take back this change, as `tierdeck show` numbers it.")
@click.option("--log", "log_id", type=int, metavar="N", help="Take back this row, as `tierdeck log` numbers it.")
@click.option("--run", "run_id", type=int, metavar="N", help="Take back a run, as `tierdeck runs` numbers it.")
@click.option("--redo", "is_redo", is_flag=True, help="Take back the last undo instead.")
@click.option("--reason", help="Why; it stands in the log of moves.")
@click.pass_obj
def undo_verb(
    run: Run,
    /,
    ids: tuple[str, ...],
    revision: int | None,
    log_id: int | None,
    run_id: int | None,
    is_redo: bool,
    reason: str | None,
) -> int:
    """Take back the newest thing done to memories: a change of their fields, or a move to another tier.

    What it changed is as it was, byte for byte; what came after a move is refused with the reason. What the rules
    or an approval moved stays back until new pulls: its evidence begins anew. The undo itself can be taken back
    too, a run's with --run and the undo's number. Prints the ids; - reads ids from stdin. Ends with 10 when some
    were refused.
    """
    if sum((revision is not None, log_id is not None, run_id is not None, is_redo)) > 1:
        raise click.UsageError("--revision, --log, --run and --redo exclude each other")
    if is_redo and not ids:
        raise click.UsageError("--redo takes the ids of the memories whose last undo is to be taken back")
    if (log_id is None and run_id is None) != bool(ids):
        raise click.UsageError("give ids, or --log N, or --run N, one of them")
    if revision is not None and len(ids) > 1:
        raise click.UsageError("--revision takes one id")
    if run_id is not None:
        return _undo_run(run, run_id, reason)
    asked = _Asked(run.actor, reason, revision, log_id, is_redo)
    with run.open() as store:
        names = [entry(store, log_id).node_id] if log_id is not None else resolved(store, ids)
        with stop_flag() as should_stop, ProgressBar("undoing") as bar:
            done, refused, targets = _take_back_all(store, names, asked, Pace(bar.show, should_stop))
    code = _put(run, done, refused, is_redo=is_redo)
    _talk_evidence(targets)
    if not should_stop():
        return code
    talk(f"stopped after {counted(len(done) + len(refused), 'memory', 'memories')} of {count(len(names))}")
    return STOPPED


def _undo_run(run: Run, run_id: int, reason: str | None) -> int:
    with run.open() as store, stop_flag() as should_stop, ProgressBar("undoing") as bar:
        pace = Pace(bar.show, should_stop)
        preview = read_run_undo(store, run_id)
        report = undo_run(store, run_id, actor=run.actor, reason=reason, pace=pace)
    code = put_report(run, report, "redone" if preview.is_redo else "undone", is_stopped=should_stop())
    if not report.moved and not report.refused:
        talk(nothing_to_undo(preview))
    elif report.moved:
        _talk_evidence(preview.standing)
    return code


def _take_back_all(
    store: Store, names: list[str], asked: _Asked, pace: Pace
) -> tuple[list[Deed], list[Refused], list[LogEntry]]:
    """The undos, what could not be taken back, and the moves that were; a single memory raises instead."""
    done: list[Deed] = []
    targets: list[LogEntry] = []
    refused: list[Refused] = []
    for node_id in chain.from_iterable(chunks(names, pace)):
        try:
            target = _target(store, node_id, asked)
            done.append(_take_back(store, node_id, asked, target))
            if target is not None:
                targets.append(target)
        except (NotFoundError, ConflictError) as e:
            if len(names) == 1:
                raise
            refused.append(Refused(node_id, e.message))
    return done, refused, targets


def _target(store: Store, node_id: str, asked: _Asked) -> LogEntry | None:
    """The row of the log that is meant; None where a change of fields is."""
    if asked.log_id is not None:
        return entry(store, asked.log_id)
    if asked.revision is not None:
        return None
    if asked.is_redo:
        rows = entries(store, LogFilter(node_id=node_id), limit_rows=_MAX_ENTRIES)
        last = newest_undo(revisions(store, node_id), rows)
    else:
        last = newest_deed(revisions(store, node_id), undoable(store, node_id))
    return last if isinstance(last, LogEntry) else None


def _take_back(store: Store, node_id: str, asked: _Asked, target: LogEntry | None) -> Deed:
    if target is not None:
        return undo_move(store, node_id, actor=asked.actor, reason=asked.reason, log_id=target.id)
    if asked.is_redo:
        return redo(store, node_id, actor=asked.actor)
    return undo(store, node_id, actor=asked.actor, revision_id=asked.revision)


def _talk_evidence(targets: Sequence[LogEntry]) -> None:
    note = evidence_note(targets)
    if note is not None:
        talk(note)


def _put(run: Run, done: list[Deed], refused: list[Refused], *, is_redo: bool) -> int:
    if run.is_json:
        undone = [
            {
                "node_id": each.node_id,
                "revision": each if isinstance(each, Revision) else None,
                "log_entry": each if isinstance(each, LogEntry) else None,
            }
            for each in done
        ]
        put_json(masked_form({"redone" if is_redo else "undone": undone, "refused": refused}, reveal=False))
    elif done:
        put("\n".join(each.node_id for each in done))
    for each in done:
        if isinstance(each, Revision):
            talk(f"took back change #{each.undoes}; this is change #{each.id}")
        else:
            talk(f"{deed_words(each)}; this is row #{each.id} of the log")
    for one in refused:
        talk(text_of(refused_line(one)))
    if not refused:
        return 0
    talk(f"{count(len(refused))} refused")
    return EXIT_PARTLY_DONE if done else ConflictError.exit_code
