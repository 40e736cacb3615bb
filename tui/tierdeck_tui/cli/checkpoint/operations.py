"""`tierdeck checkpoint operations` and `decide`: calls that were not finished, and what is done about them.

Nothing is run by it: the agent does what was decided when it comes to the call, and asks about what was not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tierdeck.checkpoint.folder import FoundCheckpoint, SessionFolder
from tierdeck.checkpoint.journal import CHOICES
from tierdeck.checkpoint.running import (
    OpenOperation,
    decide,
    open_operations_of,
    operations_of,
    start_at,
)
from tierdeck.errors import NotFoundError
from tierdeck_tui.cli.checkpoint.choices import decision_of, operation_by_id
from tierdeck_tui.cli.checkpoint.named import named_checkpoint
from tierdeck_tui.cli.checkpoint.place import (
    checkpoints_option,
    key_option,
    root_to_change,
    use_checkpoints,
    use_key,
)
from tierdeck_tui.cli.checkpoint.sessions import session_folder
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.checkpoint.operation import operation_form, operation_lines
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.masked import masked_form


@click.command("operations", cls=Verb)
@click.argument("name", metavar="SESSION|CHECKPOINT")
@click.option("--all", "is_all", is_flag=True, help="Of a session: those that are over too.")
@key_option
@checkpoints_option
@click.pass_obj
def operations_verb(run: Run, /, name: str, is_all: bool, key_file: str | None, checkpoints: str | None) -> None:
    """List the calls that can be decided about, and what the agent will ask.

    Of a SESSION those it stands before as it is; `tierdeck checkpoint decide` decides about them. Of a CHECKPOINT
    those a restore would bring: what it had not finished, and what was done since; `tierdeck checkpoint restore
    --operation` decides about them.
    """
    root = use_checkpoints(run, checkpoints)
    found = _named(root, name, use_key(run, key_file))
    if isinstance(found, SessionFolder):
        operations = _of_session(found, is_all=is_all)
        about: dict[str, object] = {"session_id": found.session_id, "checkpoint": None}
    else:
        if is_all:
            raise click.UsageError("--all goes with a session")
        start = start_at(found.listed.path, found.folder)
        operations = start.operations
        if start.unknown is not None:
            talk(start.unknown)
        session_id = None if found.listed.summary is None else found.listed.summary.session_id
        about = {"session_id": session_id, "checkpoint": found.listed.path}
    if run.is_json:
        forms = [operation_form(each) for each in operations]
        put_json(masked_form({**about, "operations": forms, "choices": CHOICES}, reveal=False))
    else:
        put_lines(operation_lines(operations, {}, width_cells()))
    _say(operations)


@click.command("decide", cls=Verb)
@click.argument("session")
@click.argument("op_id", metavar="ID")
@click.argument("choice", metavar="CHOICE")
@key_option
@checkpoints_option
@click.pass_obj
def decide_verb(
    run: Run, /, session: str, op_id: str, choice: str, key_file: str | None, checkpoints: str | None
) -> None:
    """Say what is done about a call when the agent of a session comes to it, as the session stands.

    CHOICE is `again`, `skip`, `abort`, `done`, or `done:` with the JSON value that the call gave. ID may be the
    beginning of an id. While an agent runs, it is the one to ask: then nothing is decided, and it ends with 5.
    """
    root = root_to_change(run, checkpoints, "decide operation")
    folder = session_folder(root, session, key=use_key(run, key_file))
    about = operation_by_id(open_operations_of(folder), op_id)
    decision = decision_of(choice, about, run.actor)
    decide(folder, about.entry.op_id, decision)
    if run.is_json:
        decided = operation_form(about, decision)
        put_json(masked_form({"session_id": folder.session_id, "operation": decided}, reveal=False))
    else:
        put(about.entry.op_id)
    talk(f"{about.entry.kind}: {decision.choice}, when the agent comes to it")


def _named(root: Path, name: str, key: bytes | None) -> SessionFolder | FoundCheckpoint:
    """The session of exactly this id, else the checkpoint that is named so."""
    try:
        return session_folder(root, name, key=key)
    except NotFoundError:
        return named_checkpoint(root, name, key=key)


def _of_session(folder: SessionFolder, *, is_all: bool) -> tuple[OpenOperation, ...]:
    found = open_operations_of(folder)
    if not is_all:
        return found
    known = {each.entry.op_id for each in found}
    over = [OpenOperation(entry) for entry in operations_of(folder) if entry.op_id not in known]
    return (*over, *found)


def _say(operations: Sequence[OpenOperation]) -> None:
    asked = sum(each.question is not None and each.entry.decision is None for each in operations)
    if not operations:
        talk("no call is open")
    else:
        verb = "is" if asked == 1 else "are"
        talk(f"{counted(len(operations), 'call')}, of which {asked} {verb} asked about")
