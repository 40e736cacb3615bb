"""`tierdeck checkpoint label` and `pin`: marks that stand beside the files; no checkpoint is ever rewritten."""

from __future__ import annotations

from pathlib import Path

import click

from tierdeck.checkpoint.folder import FoundCheckpoint, SessionFolder
from tierdeck.errors import CheckpointError
from tierdeck_tui.cli.checkpoint.named import named_checkpoint
from tierdeck_tui.cli.checkpoint.place import checkpoints_option, root_to_change
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.masked import masked_form


@click.command("label", cls=Verb)
@click.argument("checkpoint")
@click.argument("text", required=False)
@click.option("--off", is_flag=True, help="Take the label away.")
@checkpoints_option
@click.pass_obj
def label_verb(run: Run, /, checkpoint: str, text: str | None, off: bool, checkpoints: str | None) -> None:
    """Give a checkpoint a label of at most 200 characters, in the place of the one it had; with --off none.

    What has a label is not cleared away by retention.
    """
    if off == (text is not None):
        raise click.UsageError("give a TEXT, or --off, one of them")
    root = root_to_change(run, checkpoints, "label checkpoint")
    found = named_checkpoint(root, checkpoint)
    folder_of(found).set_label(found.listed.file, text)
    if run.is_json:
        put_json(masked_form({"path": found.listed.path, "label": text}, reveal=False))
    else:
        put(str(found.listed.path))


@click.command("pin", cls=Verb)
@click.argument("names", nargs=-1, required=True, metavar="CHECKPOINT...")
@click.option("--off", is_flag=True, help="Let retention have them again.")
@checkpoints_option
@click.pass_obj
def pin_verb(run: Run, /, names: tuple[str, ...], off: bool, checkpoints: str | None) -> None:
    """Keep checkpoints from being cleared away; with --off no longer. Prints their paths."""
    root = root_to_change(run, checkpoints, "pin checkpoint")
    # All are looked up before the first is changed: of a list with a wrong name nothing is pinned.
    found = [named_checkpoint(root, name) for name in names]
    folders = [folder_of(each) for each in found]
    for each, folder in zip(found, folders, strict=True):
        folder.set_pin(each.listed.file, not off)
    paths: list[Path] = [each.listed.path for each in found]
    if run.is_json:
        put_json({"paths": paths, "is_pinned": not off})
    else:
        put("\n".join(map(str, paths)))
    talk(f"{'released' if off else 'pinned'} {counted(len(paths), 'checkpoint')}")


def folder_of(found: FoundCheckpoint) -> SessionFolder:
    """The session's folder that the checkpoint lies in.

    Raises:
        CheckpointError: it lies in none, so nothing can be noted beside it.
    """
    if found.folder is None:
        raise CheckpointError(
            f"mark checkpoint {found.listed.path}: it lies in no session's folder",
            hint="`tierdeck checkpoint list` lists those that do",
        )
    return found.folder
