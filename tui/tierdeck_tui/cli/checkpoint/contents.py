"""`tierdeck checkpoint show`, `vars` and `var`: what is in a checkpoint, decoded no further than asked."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tierdeck.checkpoint import Head, Loss, open_checkpoint, read_losses
from tierdeck.checkpoint.file.table import VARIABLE
from tierdeck.checkpoint.folder import Listed
from tierdeck.errors import CheckpointError
from tierdeck.secret_scan import mask_secrets
from tierdeck_tui.cli.checkpoint.named import named_checkpoint
from tierdeck_tui.cli.checkpoint.place import checkpoints_option, key_option, use_checkpoints, use_key
from tierdeck_tui.cli.checkpoint.sealed import seal_code
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.reading.checkpoint_contents import value_facts
from tierdeck_tui.reading.checkpoint_parts import PART_NAMES, PartName, read_part
from tierdeck_tui.view.checkpoint.form import checkpoint_form, head_form, loss_form, variable_form
from tierdeck_tui.view.checkpoint.summary import summary_lines
from tierdeck_tui.view.checkpoint.value import value_lines, whole_text
from tierdeck_tui.view.checkpoint.value_form import value_form
from tierdeck_tui.view.checkpoint.variables import loss_lines, variables_lines
from tierdeck_tui.view.line import Piece, line
from tierdeck_tui.view.masked import masked_form

_reveal_option = click.option("--reveal", is_flag=True, help="Show what looks like a secret.")


@click.command("show", cls=Verb)
@click.argument("checkpoint")
@click.option("--part", type=click.Choice(PART_NAMES), help="Show this part of it instead, decoded.")
@_reveal_option
@key_option
@checkpoints_option
@click.pass_obj
def show_verb(
    run: Run,
    /,
    checkpoint: str,
    part: PartName | None,
    reveal: bool,
    key_file: str | None,
    checkpoints: str | None,
) -> int:
    """Show what a checkpoint says of itself, and what it could not keep; with --part its messages and the like.

    A damaged or newer file is shown as that, and then it ends with 11. So it does when a key is set and the file
    is not sealed with it.
    """
    listed, key = named_checkpoint(use_checkpoints(run, checkpoints), checkpoint).listed, use_key(run, key_file)
    # Written when the file is closed: while it is open, a reader of the output who left would pass for its trouble.
    if part is not None:
        with open_checkpoint(listed.path) as file:
            value = read_part(file, part)
        _put_value(run, {"part": part}, value, reveal=reveal)
        return seal_code(listed.path, key)
    try:
        with open_checkpoint(listed.path) as file:
            head, losses = file.head, read_losses(file)
    except CheckpointError as e:
        if listed.summary is not None:
            raise
        _put_unreadable(run, listed, e)
        return e.exit_code
    _put_checkpoint(run, listed, head, losses)
    return seal_code(listed.path, key)


@click.command("vars", cls=Verb)
@click.argument("checkpoint")
@key_option
@checkpoints_option
@click.pass_obj
def vars_verb(run: Run, /, checkpoint: str, key_file: str | None, checkpoints: str | None) -> int:
    """List the variables of a checkpoint with type, size and preview; none of them is decoded.

    A ! stands before one that is lost, or of which something is not as it was.
    """
    listed, key = named_checkpoint(use_checkpoints(run, checkpoints), checkpoint).listed, use_key(run, key_file)
    with open_checkpoint(listed.path) as file:
        units, losses = file.table().variables, read_losses(file)
    if run.is_json:
        document = {
            "path": listed.path,
            "variables": [variable_form(unit) for unit in units],
            "losses": [loss_form(loss) for loss in losses],
        }
        put_json(masked_form(document, reveal=False))
    else:
        put_lines(variables_lines(units, losses, width_cells()))
    if not units and not losses:
        talk("it holds no variable")
    return seal_code(listed.path, key)


@click.command("var", cls=Verb)
@click.argument("checkpoint")
@click.argument("name")
@_reveal_option
@key_option
@checkpoints_option
@click.pass_obj
def var_verb(
    run: Run, /, checkpoint: str, name: str, reveal: bool, key_file: str | None, checkpoints: str | None
) -> int:
    """Show the value of one variable; no other one is decoded. A text is written whole, anything else as rows.

    --json writes all of it: what JSON has no type for as an object with "$type".
    """
    listed, key = named_checkpoint(use_checkpoints(run, checkpoints), checkpoint).listed, use_key(run, key_file)
    with open_checkpoint(listed.path) as file:
        facts, unit = value_facts(file, name), file.unit(VARIABLE, name)
    document = {**variable_form(unit), "losses": [loss_form(loss) for loss in facts.losses]}
    _put_value(run, document, facts.value, reveal=reveal)
    for loss in facts.losses:
        talk(f"not as it was: {loss.path} ({loss.type_name}): {loss.reason}")
    return seal_code(listed.path, key)


def _put_checkpoint(run: Run, listed: Listed, head: Head, losses: Sequence[Loss]) -> None:
    if run.is_json:
        document = {
            "checkpoint": {**checkpoint_form(listed), **head_form(head)},
            "losses": [loss_form(loss) for loss in losses],
        }
        put_json(masked_form(document, reveal=False))
        return
    cells = width_cells()
    put_lines(summary_lines(listed, head, cells))
    if losses:
        put_lines([line(""), line(Piece("not as it was:", "warning")), *loss_lines(losses, cells)])


def _put_unreadable(run: Run, listed: Listed, error: CheckpointError) -> None:
    if run.is_json:
        put_json(masked_form({"checkpoint": checkpoint_form(listed), "losses": None}, reveal=False))
    else:
        put_lines(summary_lines(listed, None, width_cells()))
    if error.hint:
        talk(error.hint)


def _put_value(run: Run, document: dict[str, object], value: object, *, reveal: bool) -> None:
    text = whole_text(value)
    if run.is_json:
        formed = value_form(value)
        put_json(masked_form({**document, "value": formed.form, "is_whole": formed.is_whole}, reveal=reveal))
        if not formed.is_whole:
            talk("it is nested deeper or holds more than is written; what was left out says so")
    elif text is not None:
        shown = text if reveal else mask_secrets(text)
        put(shown)
        if shown != text:
            talk("what looks like a secret is hidden; --reveal shows it")
    else:
        put_lines(value_lines(value, width_cells(), reveal=reveal))
