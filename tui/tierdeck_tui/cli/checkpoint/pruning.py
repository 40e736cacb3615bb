"""`tierdeck checkpoint prune` and `trash`: what retention does not keep, and the way back."""

from __future__ import annotations

import click

from tierdeck.checkpoint.folder import SessionFolder
from tierdeck.checkpoint.folder.retention import PrunePlan, PruneReport, plan_prune, policy_of, prune
from tierdeck.checkpoint.folder.trash import KEPT_DAYS, Trashed, empty_trash, list_trash, restore_from_trash
from tierdeck.errors import EXIT_PARTLY_DONE, NotFoundError
from tierdeck.times import now_ms
from tierdeck_tui.cli.ask import confirm
from tierdeck_tui.cli.checkpoint.place import (
    checkpoints_option,
    key_option,
    root_to_change,
    use_checkpoints,
    use_key,
)
from tierdeck_tui.cli.checkpoint.sessions import session_folder
from tierdeck_tui.cli.frame import STOPPED
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.checkpoint.form import checkpoint_form
from tierdeck_tui.view.checkpoint.prune import prune_lines, prune_words, trashed_line
from tierdeck_tui.view.format import counted, size
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.masked import masked_form

_COUNT = click.IntRange(min=1)


@click.command("prune", cls=Verb)
@click.argument("session")
@click.option("--keep-last", type=_COUNT, metavar="N", help="Of each branch keep the last so many.")
@click.option("--keep-mb", type=_COUNT, metavar="N", help="Keep no more than so many megabytes.")
@click.option("--keep-days", type=_COUNT, metavar="N", help="Keep nothing that is older.")
@click.option("--dry-run", is_flag=True, help="Only say what would go and what would stay, and why.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@key_option
@checkpoints_option
@click.pass_obj
def prune_verb(
    run: Run,
    /,
    session: str,
    keep_last: int | None,
    keep_mb: int | None,
    keep_days: int | None,
    dry_run: bool,
    yes: bool,
    key_file: str | None,
    checkpoints: str | None,
) -> int:
    """Move a session's old automatic checkpoints to the trash, from where they come back for seven days.

    Never what is pinned, labelled, saved on purpose, HEAD, what something began from, what has unfinished
    operations, what can't be read, or the newest that verifies. Says what goes and asks first; prints the files'
    names. Ends with 10 when one of them came to be protected meanwhile, with 130 when it was stopped: what was
    moved by then is said, and comes back as the rest does.
    """
    for name, value in (("keep_last", keep_last), ("keep_mb", keep_mb), ("keep_days", keep_days)):
        run.use_flag(f"checkpoints.{name}", value, f"--{name.replace('_', '-')}")
    doing = "prune checkpoints"
    root = use_checkpoints(run, checkpoints) if dry_run else root_to_change(run, checkpoints, doing)
    folder = session_folder(root, session, key=use_key(run, key_file))
    with stop_flag() as should_stop, ProgressBar("looking at what began there") as bar:
        plan = plan_prune(
            folder, policy_of(run.settings.checkpoints), on_progress=bar.show, should_stop=should_stop
        )
    if dry_run:
        _put_plan(run, plan)
        return 0
    if plan.delete and not yes:
        for each in prune_lines(plan, now_ms(), width_cells()):
            talk(text_of(each).rstrip())
        confirm(doing, f"{prune_words(plan)}?", is_sure=yes)
    with stop_flag() as should_stop, ProgressBar("moving to the trash") as bar:
        report = prune(folder, plan, on_progress=bar.show, should_stop=should_stop)
    _put_report(run, plan, report)
    if report.is_stopped:
        left = len(plan.delete) - len(report.moved) - len(report.passed_over)
        talk(f"stopped; {counted(left, 'checkpoint')} of the plan not moved, and the same command moves the rest")
        return STOPPED
    return EXIT_PARTLY_DONE if report.passed_over else 0


@click.command("trash", cls=Verb)
@click.argument("session")
@click.option("--restore", "file", metavar="FILE|NUMBER", help="Put this one back.")
@click.option("--empty", is_flag=True, help="Remove for good what has been there for seven days.")
@click.option("--all", "is_all", is_flag=True, help="With --empty: remove all of it, however short it was there.")
@click.option("--yes", is_flag=True, help="Do not ask before removing.")
@checkpoints_option
@click.pass_obj
def trash_verb(
    run: Run, /, session: str, file: str | None, empty: bool, is_all: bool, yes: bool, checkpoints: str | None
) -> None:
    """List a session's trash; put a checkpoint back from it; or remove for good what lies in it."""
    if file is not None and empty:
        raise click.UsageError("--restore and --empty exclude each other")
    if is_all and not empty:
        raise click.UsageError("--all goes with --empty")
    changes = file is not None or empty
    root = root_to_change(run, checkpoints, "change trash") if changes else use_checkpoints(run, checkpoints)
    folder = session_folder(root, session)
    if file is not None:
        _restore(run, folder, file)
    elif empty:
        _empty(run, folder, 0 if is_all else KEPT_DAYS, is_sure=yes)
    else:
        _list(run, folder)


def _put_plan(run: Run, plan: PrunePlan) -> None:
    if run.is_json:
        put_json(masked_form({"is_dry_run": True, **_document(plan)}, reveal=False))
    else:
        put_lines(prune_lines(plan, now_ms(), width_cells()))


def _put_report(run: Run, plan: PrunePlan, report: PruneReport) -> None:
    if run.is_json:
        done = {"moved": report.moved, "passed_over": [each._asdict() for each in report.passed_over]}
        removed = report.emptied.files
        put_json(masked_form({"is_dry_run": False, **_document(plan), **done, "removed": removed}, reveal=False))
    elif report.moved:
        put("\n".join(report.moved))
    moved = f"{counted(len(report.moved), 'checkpoint')}, {size(report.moved_bytes)}, moved to the trash"
    talk(moved if report.moved else "nothing to clear away")
    for each in report.passed_over:
        talk(f"kept {each.file}: {each.why}")
    if report.emptied.files:
        talk(f"removed from the trash: {counted(len(report.emptied.files), 'checkpoint')} of over {KEPT_DAYS} days")
    if plan.over_budget:
        talk(plan.over_budget)


def _document(plan: PrunePlan) -> dict[str, object]:
    return {
        "to_trash": [checkpoint_form(each) for each in plan.delete],
        "kept": [{"path": each.listed.path, "why": each.why} for each in plan.kept],
        "kept_bytes": plan.kept_bytes,
        "trash_bytes": plan.trash_bytes,
        "over_budget": plan.over_budget,
    }


def _list(run: Run, folder: SessionFolder) -> None:
    found = list_trash(folder)
    if run.is_json:
        put_json(masked_form({"session_id": folder.session_id, "trash": found}, reveal=False))
    else:
        now = now_ms()
        put_lines(trashed_line(each, now, width_cells()) for each in found)
    if found:
        talk(f"{counted(len(found), 'checkpoint')}, {size(sum(each.size_bytes for each in found))}")
    else:
        talk("its trash is empty")


def _restore(run: Run, folder: SessionFolder, text: str) -> None:
    path = restore_from_trash(folder, _trashed(folder, text).file)
    if run.is_json:
        put_json({"restored": path})
    else:
        put(str(path))


def _trashed(folder: SessionFolder, text: str) -> Trashed:
    """The file in the trash with this name, or this number."""
    for each in list_trash(folder):
        if text == each.file or (text.isdecimal() and text.isascii() and text.lstrip("0") == str(each.sequence)):
            return each
    raise NotFoundError(
        f"restore {text[:80]!r} from the trash: it is not there",
        hint="`tierdeck checkpoint trash SESSION` lists it",
    )


def _empty(run: Run, folder: SessionFolder, older_than_days: float, *, is_sure: bool) -> None:
    found = list_trash(folder)
    if found:
        kept = "" if older_than_days == 0 else f" that has been there for {older_than_days:g} days"
        what = f"remove for good what is in the trash{kept}? It has {counted(len(found), 'checkpoint')}"
        confirm("empty trash", what, is_sure=is_sure)
    gone = empty_trash(folder, older_than_days=older_than_days)
    if run.is_json:
        put_json({"removed": gone.files, "size_bytes": gone.size_bytes})
    elif gone.files:
        put("\n".join(gone.files))
    talk(f"removed {counted(len(gone.files), 'checkpoint')}, {size(gone.size_bytes)}")
