"""`tierdeck checkpoint import`: the JSON checkpoints of rlm-claude-code into our own files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from tierdeck.checkpoint.family import FAMILY_FOLDER, FamilyImport, family_files, import_family_checkpoints
from tierdeck.errors import EXIT_PARTLY_DONE, CheckpointError
from tierdeck_tui.cli.checkpoint.place import (
    checkpoints_option,
    key_option,
    root_to_change,
    use_checkpoints,
    use_key,
)
from tierdeck_tui.cli.output import put_json, put_lines, talk
from tierdeck_tui.cli.path_argument import path_of
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.checkpoint.form import loss_form
from tierdeck_tui.view.checkpoint.import_lines import taken_lines
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.masked import masked_form


@click.command("import", cls=Verb)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken over.")
@key_option
@checkpoints_option
@click.pass_obj
def import_verb(
    run: Run, /, files: tuple[str, ...], dry_run: bool, key_file: str | None, checkpoints: str | None
) -> int:
    """Take over JSON checkpoints of rlm-claude-code (1.0, 1.1); without a FILE those in ~/.rlm/checkpoints.

    They are marked as degraded: JSON made lists of tuples and text of what it has no type for, and none of that
    comes back. A folder stands for the .json files in it. The files stay as they are, and none is taken twice. Ends
    with 10 when some were refused, with 11 when all were.
    """
    doing = "import checkpoints"
    if dry_run:
        root = use_checkpoints(run, checkpoints, may_be_made=True)
    else:
        root = root_to_change(run, checkpoints, doing, may_be_made=True)
    key = use_key(run, key_file)
    with ProgressBar("importing") as bar:
        found = import_family_checkpoints(root, _sources(files), is_dry_run=dry_run, key=key, on_progress=bar.show)
    if run.is_json:
        put_json(masked_form(_document(found, is_dry_run=dry_run), reveal=False))
    else:
        put_lines(line for one in found.taken for line in taken_lines(one, width_cells()))
    _say(found, is_dry_run=dry_run)
    if not found.refused:
        return 0
    return EXIT_PARTLY_DONE if found.taken or found.known else CheckpointError.exit_code


def _sources(files: tuple[str, ...]) -> Iterator[Path]:
    for path in [path_of(file) for file in files] or [FAMILY_FOLDER.expanduser()]:
        if path.is_dir() or not files:
            yield from family_files(path)
        else:
            yield path


def _document(found: FamilyImport, *, is_dry_run: bool) -> dict[str, object]:
    taken = [
        {
            "source": one.source,
            "session_id": one.session_id,
            "checkpoint_id": one.checkpoint_id,
            "turn": one.turn,
            "version": one.version,
            "path": one.path,
            "is_degraded": True,
            "losses": [loss_form(loss) for loss in one.losses],
        }
        for one in found.taken
    ]
    return {"is_dry_run": is_dry_run, "imported": taken, "known": found.known, "refused": found.refused}


def _say(found: FamilyImport, *, is_dry_run: bool) -> None:
    for one in found.refused:
        talk(f"refused {one.source}: {one.why}")
    done = "would be taken over" if is_dry_run else "taken over, marked as degraded"
    talk(f"{counted(len(found.taken), 'checkpoint')} {done}")
    if found.known:
        talk(f"{count(len(found.known))} taken over earlier")
