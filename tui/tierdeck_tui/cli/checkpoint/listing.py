"""`tierdeck checkpoint list`: the sessions that have checkpoints, or one session's by branch."""

from __future__ import annotations

from pathlib import Path

import click

from tierdeck.checkpoint.folder import list_sessions, list_trash, session_info
from tierdeck.checkpoint.journal import read_beginnings
from tierdeck.times import now_ms
from tierdeck_tui.cli.checkpoint.place import checkpoints_option, use_checkpoints
from tierdeck_tui.cli.checkpoint.sessions import session_folder
from tierdeck_tui.cli.output import put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.checkpoint.branch import Known, session_lines
from tierdeck_tui.view.checkpoint.form import checkpoint_form, session_info_form
from tierdeck_tui.view.checkpoint.row import session_info_line
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.masked import masked_form


@click.command("list", cls=Verb)
@click.argument("session", required=False)
@checkpoints_option
@click.pass_obj
def list_verb(run: Run, /, session: str | None, checkpoints: str | None) -> None:
    """List the sessions that have checkpoints, the newest first; of a SESSION its checkpoints by branch.

    4 KB of each file are read. `not verified` says that nothing more was looked at: `tierdeck checkpoint verify`
    does that. HEAD is where the session goes on.
    """
    root = use_checkpoints(run, checkpoints)
    if session is None:
        _put_sessions(run, root)
    else:
        _put_session(run, root, session)


def _put_sessions(run: Run, root: Path) -> None:
    found = list_sessions(root)
    if run.is_json:
        put_json(masked_form({"root": root, "sessions": [session_info_form(one) for one in found]}, reveal=False))
    else:
        now = now_ms()
        put_lines(session_info_line(one, now, width_cells()) for one in found)
    if not found:
        talk(f"no session has a checkpoint in {root}" if root.exists() else f"there is no folder {root} yet")
        talk("  --checkpoints names another folder")


def _put_session(run: Run, root: Path, session: str) -> None:
    folder = session_folder(root, session)
    listed, problems = folder.listed(), folder.problems()
    if run.is_json:
        document = {
            "session_id": folder.session_id,
            "path": folder.path,
            "is_live": folder.is_live(),
            "run": session_info(folder.path).run,
            "problems": problems,
            "checkpoints": [checkpoint_form(one) for one in listed],
        }
        put_json(masked_form(document, reveal=False))
    else:
        known = Known(read_beginnings(folder.path), list_trash(folder))
        put_lines(session_lines(listed, now_ms(), width_cells(), known))
    if not listed:
        talk("the session has no checkpoint")
    for problem in problems:
        talk(problem)
    bad = sum(one.summary is None for one in listed)
    if bad:
        talk(f"{counted(bad, 'file')} can't be read; the others are not touched by it")
