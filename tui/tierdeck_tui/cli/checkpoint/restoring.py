"""`tierdeck checkpoint restore`: a session goes on from a checkpoint, as a new one (fork) or itself (rewind).

Nothing of the session is run here. A fork needs no agent. A rewind moves HEAD when no agent runs the session; else
the agent is asked, and until it has answered nothing is called done.
"""

from __future__ import annotations

from pathlib import Path

import click

from tierdeck.checkpoint.folder import FoundCheckpoint, Listed, SessionFolder, find_checkpoint
from tierdeck.checkpoint.running.restore import Asked, fork, rewind
from tierdeck.errors import CheckpointError, ConflictError
from tierdeck_tui.cli.ask import confirm_by_typing
from tierdeck_tui.cli.checkpoint.place import checkpoints_option, root_to_change, use_checkpoints
from tierdeck_tui.cli.checkpoint.requests import WAIT, put_outcome
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.reading.restore_plan import RestoreMode, RestorePlan, read_restore_plan
from tierdeck_tui.view.checkpoint.form import plan_form
from tierdeck_tui.view.checkpoint.plan import plan_lines, typed_answer
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.sanitise import visible

_DOING = "restore checkpoint"


@click.command("restore", cls=Verb)
@click.argument("checkpoint")
@click.option("--fork", "forks", is_flag=True, help="Begin a new session there; the old one stays as it is. Usual.")
@click.option("--as", "as_", metavar="ID", help="With --fork: the new session's id.")
@click.option("--rewind", "rewinds", is_flag=True, help="Have the session itself go back there.")
@click.option(
    "--wait", type=WAIT, default=0.0, metavar="SECONDS", help="Wait so long for a running agent's answer."
)
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--yes", is_flag=True, help="Do not ask.")
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
    dry_run: bool,
    yes: bool,
    checkpoints: str | None,
) -> int:
    """Have a session go on from a checkpoint, after the plan was shown and the turn typed to confirm it.

    Prints the new session's id, or the checkpoint that HEAD is at. A running agent can only be asked to go back:
    then it says `requested` and ends with 10 until the agent has answered, with 5 when it refused.
    """
    if forks and rewinds:
        raise click.UsageError("--fork and --rewind exclude each other")
    if as_ is not None and rewinds:
        raise click.UsageError("--as goes with --fork")
    root = use_checkpoints(run, checkpoints) if dry_run else root_to_change(run, checkpoints, _DOING)
    mode: RestoreMode = "rewind" if rewinds else "fork"
    found = find_checkpoint(root, checkpoint)
    if rewinds and found.folder is None:
        raise CheckpointError(
            f"rewind to {found.listed.path}: it lies in no session's folder", hint="--fork makes a session of it"
        )
    plan = read_restore_plan(found, mode, as_)
    if dry_run:
        _put_plan(run, plan)
        return 0
    _ask(plan, is_sure=yes)
    if mode == "fork":
        _fork(run, root, found, as_)
        return 0
    assert found.folder is not None  # noqa: S101 - seen above
    return _rewind(run, found.folder, found.listed, plan, wait_s=wait)


def _put_plan(run: Run, plan: RestorePlan) -> None:
    if run.is_json:
        put_json(masked_form({"is_dry_run": True, "plan": plan_form(plan)}, reveal=False))
    else:
        put_lines(plan_lines(plan, width_cells()))


def _ask(plan: RestorePlan, *, is_sure: bool) -> None:
    if not is_sure:
        for each in plan_lines(plan, width_cells()):
            talk(text_of(each).rstrip())
    turn = typed_answer(plan)
    confirm_by_typing(_DOING, f"type the turn, {turn}, to {plan.mode} there", turn, is_sure=is_sure, flag="--yes")


def _fork(run: Run, root: Path, found: FoundCheckpoint, as_: str | None) -> None:
    made = fork(root, found.listed.path, as_=as_)
    if run.is_json:
        put_json({"mode": "fork", "session_id": made.session_id, "branch": made.branch, "path": made.path})
    else:
        put(visible(made.session_id, one_line=True))
    talk(f"a new session begins at turn {found.listed.turn}: {made.path}")


def _rewind(run: Run, folder: SessionFolder, listed: Listed, plan: RestorePlan, *, wait_s: float) -> int:
    head = folder.head()
    if (0 if head is None else head.generation) != plan.generation:
        raise ConflictError(f"rewind session {folder.session_id[:80]}: HEAD was switched since the plan was shown")
    done = rewind(folder, listed.file, by=run.actor)
    if isinstance(done, Asked):
        return put_outcome(run, folder, done.request_id, wait_s=wait_s)
    if run.is_json:
        put_json({"mode": "rewind", "path": listed.path, "branch": done.branch, "generation": done.generation})
    else:
        put(str(listed.path))
    talk(f"HEAD is at turn {listed.turn}, on the new branch {done.branch}; the later checkpoints stay")
    return 0
