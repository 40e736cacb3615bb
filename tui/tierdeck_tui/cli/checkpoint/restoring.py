"""`tierdeck checkpoint restore`: a session goes on from a checkpoint, as a new one (fork) or itself (rewind).

Nothing of the session is run here. A fork needs no agent. A rewind moves HEAD when no agent runs the session; else
the agent is asked, and until it has answered nothing is called done.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from tierdeck.checkpoint.folder import FoundCheckpoint, SessionFolder
from tierdeck.checkpoint.journal import Decision
from tierdeck.checkpoint.running import Asked, OpenOperation, RestoreMode, fork, operations_at, rewind
from tierdeck.errors import CheckpointError
from tierdeck_tui.cli.ask import confirm_by_typing
from tierdeck_tui.cli.checkpoint.choices import decisions_of, operation_option
from tierdeck_tui.cli.checkpoint.named import named_checkpoint
from tierdeck_tui.cli.checkpoint.place import (
    checkpoints_option,
    key_option,
    root_to_change,
    use_checkpoints,
    use_key,
)
from tierdeck_tui.cli.checkpoint.requests import WAIT, put_outcome
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.reading.restore_plan import RestorePlan, read_restore_plan
from tierdeck_tui.view.checkpoint.form import plan_form
from tierdeck_tui.view.checkpoint.operation import operation_form, operation_lines
from tierdeck_tui.view.checkpoint.plan import plan_lines, typed_answer
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.line import Line, Piece, line, text_of
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.wrap import wrap

_DOING = "restore checkpoint"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is restored, what that would do, and what is decided about calls."""

    found: FoundCheckpoint
    plan: RestorePlan
    key: bytes | None
    operations: tuple[OpenOperation, ...]
    decisions: dict[str, Decision]


@click.command("restore", cls=Verb)
@click.argument("checkpoint")
@click.option("--fork", "forks", is_flag=True, help="Begin a new session there; the old one stays as it is. Usual.")
@click.option("--as", "as_", metavar="ID", help="With --fork: the new session's id.")
@click.option("--rewind", "rewinds", is_flag=True, help="Have the session itself go back there.")
@click.option(
    "--wait", type=WAIT, default=0.0, metavar="SECONDS", help="Wait so long for a running agent's answer."
)
@operation_option
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@key_option
@checkpoints_option
@click.pass_obj
def restore_verb(
    run: Run,
    /,
    checkpoint: str,
    forks: bool,
    as_: str | None,
    rewinds: bool,
    wait: float,
    choices: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    key_file: str | None,
    checkpoints: str | None,
) -> int:
    """Have a session go on from a checkpoint, after the plan was shown and the turn typed to confirm it.

    Calls that were not finished, or were made since, are decided about by --operation: `again`, `skip`, `abort`,
    `done`, or `done:` with the JSON value that the call gave. ID may be the beginning of an id. What is not decided
    stays open: the agent asks when it comes to it, and the plan lists it.

    Prints the new session's id, or the checkpoint that HEAD is at. A running agent can only be asked to go back:
    then it says `requested` and ends with 10 until the agent has answered, with 5 when it refused.
    """
    if forks and rewinds:
        raise click.UsageError("--fork and --rewind exclude each other")
    if as_ is not None and rewinds:
        raise click.UsageError("--as goes with --fork")
    if dry_run:
        root = use_checkpoints(run, checkpoints, may_be_made=True)
    else:
        root = root_to_change(run, checkpoints, _DOING, may_be_made=True)
    mode: RestoreMode = "rewind" if rewinds else "fork"
    key = use_key(run, key_file)
    found = named_checkpoint(root, checkpoint, key=key)
    if rewinds and found.folder is None:
        raise CheckpointError(
            f"rewind to {found.listed.path}: it lies in no session's folder", hint="--fork makes a session of it"
        )
    with stop_flag() as should_stop, ProgressBar("checking") as bar:
        plan = read_restore_plan(found, mode, as_, key=key, on_progress=bar.show, should_stop=should_stop)
    operations = operations_at(found, mode)
    wanted = _Wanted(found, plan, key, operations, decisions_of(choices, operations, run.actor))
    if dry_run:
        _put_plan(run, wanted)
        return 0
    _ask(wanted, is_sure=yes)
    if mode == "fork":
        _fork(run, root, wanted, as_)
        return 0
    assert found.folder is not None  # noqa: S101 - seen above
    return _rewind(run, found.folder, wanted, wait_s=wait)


def _plan_lines(wanted: _Wanted) -> list[Line]:
    """The plan, its operations with what becomes of each: by their ids they are decided about."""
    cells = width_cells()
    lines = plan_lines(wanted.plan, cells)
    if wanted.operations:
        head = f"{counted(len(wanted.operations), 'operation')} not finished, or made since; what becomes of each:"
        lines += [*wrap(line(Piece(head, "warning")), cells)]
        lines += operation_lines(wanted.operations, wanted.decisions, cells)
    return lines


def _put_plan(run: Run, wanted: _Wanted) -> None:
    if run.is_json:
        document = {"is_dry_run": True, "plan": plan_form(wanted.plan), "operations": _forms(wanted)}
        put_json(masked_form(document, reveal=False))
    else:
        put_lines(_plan_lines(wanted))


def _ask(wanted: _Wanted, *, is_sure: bool) -> None:
    if not is_sure:
        for each in _plan_lines(wanted):
            talk(text_of(each).rstrip())
    turn = typed_answer(wanted.plan)
    question = f"type the turn, {turn}, to {wanted.plan.mode} there"
    confirm_by_typing(_DOING, question, turn, is_sure=is_sure, flag="--yes")


def _fork(run: Run, root: Path, wanted: _Wanted, as_: str | None) -> None:
    listed = wanted.found.listed
    with stop_flag() as should_stop, ProgressBar("forking") as bar:
        made = fork(
            root,
            listed.path,
            as_=as_,
            decisions=wanted.decisions,
            key=wanted.key,
            on_progress=bar.show,
            should_stop=should_stop,
        )
    if run.is_json:
        document = {"mode": "fork", "session_id": made.session_id, "branch": made.branch, "path": made.path}
        put_json(masked_form({**document, "operations": _forms(wanted)}, reveal=False))
    else:
        put(visible(made.session_id, one_line=True))
    talk(f"a new session begins at turn {listed.turn}: {made.path}")
    _say_open(wanted)


def _rewind(run: Run, folder: SessionFolder, wanted: _Wanted, *, wait_s: float) -> int:
    listed = wanted.found.listed
    with stop_flag() as should_stop, ProgressBar("rewinding") as bar:
        done = rewind(
            folder,
            listed.file,
            by=run.actor,
            expected_generation=wanted.plan.generation,
            expected_file=None if wanted.plan.present is None else wanted.plan.present.file,
            expected_live=wanted.plan.is_live,
            decisions=wanted.decisions,
            on_progress=bar.show,
            should_stop=should_stop,
        )
    if isinstance(done, Asked):
        _say_open(wanted)
        return put_outcome(run, folder, done.request_id, wait_s=wait_s)
    if run.is_json:
        document = {"mode": "rewind", "path": listed.path, "branch": done.branch, "generation": done.generation}
        put_json(masked_form({**document, "operations": _forms(wanted)}, reveal=False))
    else:
        put(str(listed.path))
    talk(f"HEAD is at turn {listed.turn}, on the new branch {done.branch}; the later checkpoints stay")
    _say_open(wanted)
    return 0


def _forms(wanted: _Wanted) -> list[dict[str, object]]:
    return [operation_form(each, wanted.decisions.get(each.entry.op_id)) for each in wanted.operations]


def _say_open(wanted: _Wanted) -> None:
    left = [each for each in wanted.operations if each.question and each.entry.op_id not in wanted.decisions]
    if left:
        talk(f"{counted(len(left), 'call')} left open: the agent asks before it makes one of them again")
