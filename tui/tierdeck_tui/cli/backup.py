"""`tierdeck backup`: a copy of the store while it is in use, its check, and its way back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from tierdeck.errors import DamagedStoreError
from tierdeck.maintenance.backup import backup, list_backups, restore_backup
from tierdeck.maintenance.backup_check import BackupCheck, verify_backup
from tierdeck.store import open_store
from tierdeck_tui.cli.ask import confirm
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.path_argument import path_of
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import counted, local_time, size


@click.command("backup", cls=Verb)
@click.option("--to", "target", metavar="FILE", help="Where to; without it beside the store, named by time.")
@click.option("--list", "lists", is_flag=True, help="List the backups beside the store, newest first.")
@click.option("--verify", metavar="FILE", help="Check a backup: structure, rows, digest.")
@click.option("--restore", metavar="FILE", help="Put a backup in the store's place; what stood there is kept.")
@click.option("--yes", is_flag=True, help="Do not ask before restoring.")
@click.pass_obj
def backup_verb(
    run: Run, /, target: str | None, lists: bool, verify: str | None, restore: str | None, yes: bool
) -> int:
    """Back up the store, also while other programs use it, and print the copy's path.

    With --verify the exit code is 3 when the backup has a problem.
    """
    if sum((target is not None, lists, verify is not None, restore is not None)) > 1:
        raise click.UsageError("--to, --list, --verify and --restore exclude each other")
    if lists:
        _list(run)
    elif verify is not None:
        return _verify(run, path_of(verify))
    elif restore is not None:
        _restore(run, path_of(restore), is_sure=yes)
    else:
        _back_up(run, path_of(target) if target else None)
    return 0


def _back_up(run: Run, target: Path | None) -> None:
    # Opened for reading: a backup must not migrate the store that it is to keep.
    with open_store(run.store_path, read_only=True) as store:
        made = backup(store, target)
    if run.is_json:
        put_json({"backup": made})
    else:
        put(str(made.path))
    vouched = "its rows are digested" if made.has_digest else "without a digest, as the store is another program's"
    talk(f"{size(made.size_bytes)}, {_rows(made.rows)}, checked; {vouched}")


def _list(run: Run) -> None:
    found = list_backups(run.store_path)
    if run.is_json:
        put_json({"backups": [{"path": path, "size_bytes": path.stat().st_size} for path in found]})
    elif found:
        put("\n".join(str(path) for path in found))
    else:
        talk(f"no backup stands beside {run.store_path}")


def _verify(run: Run, path: Path) -> int:
    check = verify_backup(path)
    if run.is_json:
        put_json({"check": check, "is_good": check.is_good})
    else:
        put("\n".join(_sentences(check)))
    return 0 if check.is_good else DamagedStoreError.exit_code


def _sentences(check: BackupCheck) -> list[str]:
    made = f", made {local_time(check.made_at_ms)}" if check.made_at_ms is not None else ""
    head = f"{'good' if check.is_good else 'NOT GOOD'}: {check.path}{made}, {_rows(check.rows)}"
    log = [] if check.log_head is None else [f"  its promotion log's head: {check.log_head}"]
    problems = (f"  problem: {each}" for each in check.problems)
    return [head, *log, *problems, *(f"  note: {each}" for each in check.notes)]


def _restore(run: Run, source: Path, *, is_sure: bool) -> None:
    run.refuse_read_only("restore to")
    question = f"put {source} in the place of {run.store_path}? What stands there is kept in a copy beside it"
    confirm("restore backup", question, is_sure=is_sure)
    report = restore_backup(source, run.store_path)
    if run.is_json:
        put_json({"restored": report})
    else:
        put(str(report.target))
    talk(f"restored {_rows(report.check.rows)}")
    if report.kept is not None:
        talk(f"what stood there is kept in {report.kept}")


def _rows(rows: Mapping[str, int]) -> str:
    return counted(rows.get("nodes", 0), "memory", "memories")
