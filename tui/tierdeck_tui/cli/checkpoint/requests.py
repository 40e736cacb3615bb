"""`tierdeck checkpoint request`: what a running agent was asked for, its answer, and taking it back."""

from __future__ import annotations

import time

import click

from tierdeck.checkpoint.folder import SessionFolder
from tierdeck.checkpoint.folder.requests import (
    CLAIM_FILE,
    Answer,
    is_expired,
    list_answers,
    read_request,
)
from tierdeck.checkpoint.running import request_checkpoint
from tierdeck.errors import EXIT_PARTLY_DONE, ConflictError, NotFoundError
from tierdeck.times import now_ms
from tierdeck_tui.cli.checkpoint.place import checkpoints_option, root_to_change, use_checkpoints
from tierdeck_tui.cli.checkpoint.sessions import session_folder
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.checkpoint.request import answer_line, request_form, request_line
from tierdeck_tui.view.line import Piece, line, text_of
from tierdeck_tui.view.masked import masked_form

WAIT = click.FloatRange(min=0, max=900)
_STEP_S = 0.2


@click.command("request", cls=Verb)
@click.argument("session")
@click.option("--answer", "asked", metavar="ID", help="Say what became of this request.")
@click.option("--wait", type=WAIT, default=0.0, metavar="SECONDS", help="With --answer: wait so long for it.")
@click.option("--take-back", metavar="ID", help="Take this request back, when the agent has not seen it.")
@click.option("--checkpoint", "saves", is_flag=True, help="Ask the running agent to save a checkpoint.")
@click.option("--label", metavar="TEXT", help="With --checkpoint: its label.")
@checkpoints_option
@click.pass_obj
def request_verb(
    run: Run,
    /,
    session: str,
    asked: str | None,
    wait: float,
    take_back: str | None,
    saves: bool,
    label: str | None,
    checkpoints: str | None,
) -> int:
    """Show what the agent of a session was asked for, is at, and has answered; or ask it to save a checkpoint.

    An agent looks at the end of each turn, and a request lasts 15 minutes; answers are kept for an hour. --answer
    ends with 0 when it was applied, with 5 when it was refused or expired, with 10 while nothing is known.
    """
    if sum((asked is not None, take_back is not None, saves)) > 1:
        raise click.UsageError("--answer, --take-back and --checkpoint exclude each other")
    if label is not None and not saves:
        raise click.UsageError("--label goes with --checkpoint")
    if asked is not None:
        return put_outcome(run, session_folder(use_checkpoints(run, checkpoints), session), asked, wait_s=wait)
    if take_back is not None:
        _take_back(run, session_folder(root_to_change(run, checkpoints, "take request back"), session), take_back)
        return 0
    if saves:
        folder = session_folder(root_to_change(run, checkpoints, "ask for a checkpoint"), session)
        return put_outcome(run, folder, request_checkpoint(folder, by=run.actor, label=label).request_id, wait_s=0)
    _show(run, session_folder(use_checkpoints(run, checkpoints), session))
    return 0


def put_outcome(run: Run, folder: SessionFolder, request_id: str, *, wait_s: float) -> int:
    """Say what became of a request, and give the exit code: 0 applied, 5 not, 10 when nothing is known yet."""
    answer = _answer(folder, request_id, wait_s)
    if run.is_json:
        state = "requested" if answer is None else answer.state
        put_json(masked_form({"request_id": request_id, "state": state, "answer": answer}, reveal=False))
    elif answer is None:
        put(f"requested {request_id}")
    else:
        put_lines([answer_line(answer)])
    if answer is None:
        talk("the agent has not answered yet; nothing is done before it does")
        talk(f"  `tierdeck checkpoint request SESSION --answer {request_id}` says what became of it")
        return EXIT_PARTLY_DONE
    return 0 if answer.state == "applied" else ConflictError.exit_code


def _answer(folder: SessionFolder, request_id: str, wait_s: float) -> Answer | None:
    end = time.monotonic() + wait_s
    while True:
        answer = folder.answer_to(request_id)
        left = end - time.monotonic()
        if answer is not None or left <= 0:
            return answer
        time.sleep(min(_STEP_S, left))


def _show(run: Run, folder: SessionFolder) -> None:
    # Read as it lies there: `pending_request` would take away one that has expired, and looking changes nothing.
    request, claimed = read_request(folder.path), read_request(folder.path, CLAIM_FILE)
    answers = list_answers(folder.path)
    is_over = request is not None and is_expired(request, time.time_ns())
    if run.is_json:
        document = {
            "is_live": folder.is_live(),
            "request": request_form(request),
            "is_expired": is_over,
            "claimed": request_form(claimed),
            "answers": answers,
        }
        put_json(masked_form(document, reveal=False))
    else:
        waiting = [] if request is None else [request_line(request, now_ms(), is_expired=is_over)]
        at_work = [] if claimed is None else [line(Piece("at work: ", "warning"), *request_line(claimed, now_ms()))]
        put_lines([*waiting, *at_work, *map(answer_line, answers)])
    if request is None and claimed is None:
        talk("nothing is asked of its agent")
    if not folder.is_live():
        talk("no agent runs this session")


def _take_back(run: Run, folder: SessionFolder, request_id: str) -> None:
    request = read_request(folder.path)
    if not folder.take_back(request_id):
        raise NotFoundError(
            f"take request {request_id[:40]} back: it does not wait",
            hint="the agent has taken it up, or it is over",
        )
    if run.is_json:
        put_json({"taken_back": request_id})
    else:
        put(request_id)
    if request is not None:
        talk(f"taken back: {text_of(request_line(request, now_ms()))}")
