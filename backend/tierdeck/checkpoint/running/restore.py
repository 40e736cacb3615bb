"""What an operator does with a checkpoint without running an agent: fork it, or have its session go back to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tierdeck.checkpoint.checkpoint import Checkpoint
from tierdeck.checkpoint.file.reading import read_head
from tierdeck.checkpoint.folder import HeadPointer, Request, SessionFolder, open_session_folder
from tierdeck.checkpoint.folder.requested_decision import RequestedDecision
from tierdeck.checkpoint.journal import NO_DECISIONS, Decisions
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.checkpoint.running.branch import BranchStart, current_branch, new_branch
from tierdeck.checkpoint.running.choose import load_from
from tierdeck.checkpoint.running.decisions import check_decisions
from tierdeck.checkpoint.running.restoring import go_back, start_of, take_in
from tierdeck.checkpoint.running.undecided import start_at
from tierdeck.checkpoint.running.watch import Progress, ReadWatch, Stop
from tierdeck.errors import ConflictError, NotFoundError


@dataclass(frozen=True, slots=True)
class Forked:
    """A session that was made from a checkpoint, and the file it begins with."""

    session_id: str
    branch: str
    path: Path


@dataclass(frozen=True, slots=True)
class Rewound:
    """A session whose agent does not run now stands at a checkpoint, on a new branch."""

    file: str
    branch: str
    generation: int


@dataclass(frozen=True, slots=True)
class Asked:
    """An agent runs the session: it was asked, and nothing changed yet. `SessionFolder.answer_to` tells more."""

    request_id: str


def fork(
    root: Path,
    path: Path,
    *,
    as_: str | None = None,
    decisions: Decisions = NO_DECISIONS,
    key: bytes | None = None,
    on_progress: Progress | None = None,
    should_stop: Stop | None = None,
    clock_ns: Callable[[], int] = time.time_ns,
) -> Forked:
    """Make a session of its own from a checkpoint; the old one is untouched, and may be running.

    The new one knows which calls with side effects the old one made after the checkpoint, and asks before each is
    made again, unless that is decided here. Nothing of the checkpoint is run.

    Args:
        root: the folder of all sessions' checkpoints.
        path: the checkpoint's file.
        as_: the new session's id; None makes one of the old id.
        decisions: what is done about calls when the new session comes to them, by the ids `operations_at` gives.
            What is not decided is asked.
        key: the operator's: the checkpoint was sealed with it, and the new session's first one is.
        on_progress: told how many of how many bytes were read.
        should_stop: asked while the checkpoint is read.

    Raises:
        ConflictError: a session of that id is there already, or a call is in another state than when it was decided
            about.
        NotFoundError, DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError: the file can't be read.
        NotFoundError, InvalidValueError: a decision is about no call that can be decided about, or is none.
        InvalidValueError: the id is none.
        CheckpointKeyError: the file was sealed with another key, or without one.
        StoppedError: it was asked to stop. No session was made in each case.
        CheckpointError: the new session can't be written; what was written of it stands.

    Spec: SPEC-09.23
    """
    doing = f"fork checkpoint {path.name}"
    target = _loaded(doing, path, key, on_progress, should_stop)
    start = start_of(path.parent, target, current_branch(path.parent))
    check_decisions(decisions, start.operations, doing)
    session_id = as_ if as_ is not None else f"{target.session_id}-fork-{new_branch()}"
    folder = open_session_folder(root, session_id, create=True, limits=AGENT_LIMITS, key=key)
    lease = folder.try_lease()
    if lease is None:
        raise _is_there(doing, session_id)
    with lease:
        if folder.listed():
            raise _is_there(doing, session_id)
        stands = take_in(folder, path, target, start=start, decisions=decisions, clock_ns=clock_ns)
        stands.journal.close()
    return Forked(session_id, stands.branch, stands.path)


def _is_there(doing: str, session_id: str) -> ConflictError:
    return ConflictError(f"{doing}: session {session_id[:80]} is there already", hint="give another id")


def rewind(
    folder: SessionFolder,
    file: str,
    *,
    by: str,
    expected_generation: int | None = None,
    expected_file: str | None = None,
    expected_live: bool | None = None,
    decisions: Decisions = NO_DECISIONS,
    on_progress: Progress | None = None,
    should_stop: Stop | None = None,
    clock_ns: Callable[[], int] = time.time_ns,
) -> Rewound | Asked:
    """Have a session go back to one of its checkpoints. Later ones stay, on the branch that is left.

    When no agent runs it, HEAD moves at once: the present is its newest checkpoint and its journal, which stay.
    Else its agent is asked; it saves the present, goes back and answers at its next turn.

    Args:
        folder: of the session, opened with the operator's key when there is one.
        file: the checkpoint's name in the folder.
        by: who asks, 1 to 200 characters.
        expected_generation: HEAD's when the caller looked; None takes it as it is now.
        expected_file: where the session stood then; None takes what was saved since as well. An agent that runs is
            not held to it: it goes on until it answers.
        expected_live: whether an agent ran it then, and so whether it is asked; None takes either.
        decisions: what is done about calls when the agent comes to them, by the ids `operations_at` gives. What is
            not decided is asked. A running agent gets them with the request, and keeps to those about calls that
            are then in the state they were seen in.
        on_progress: told how many of how many bytes were read.
        should_stop: asked while the checkpoint is read.

    Raises:
        NotFoundError: no such checkpoint is there.
        NotFoundError, InvalidValueError: a decision is about no call that can be decided about, or is none.
        ConflictError: HEAD was switched meanwhile, an agent began, ended or saved more, another request waits, or a
            call is in another state than when it was decided about: says what moved.
        DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError: it can't be read whole.
        CheckpointKeyError: it was sealed with another key than the folder's, or without one.
        StoppedError: it was asked to stop.
        CheckpointError: the disk refuses. HEAD is as it was in each case.

    Spec: SPEC-09.23
    """
    doing = f"rewind session {folder.session_id[:80]}"
    lease = folder.try_lease()
    if lease is None:
        _check_live(expected_live, doing, is_live=True)
        pointer, path = _seen(folder, file, expected_generation, doing)
        start = start_at(path, folder)
        check_decisions(decisions, start.operations, doing)
        wanted = Request("rewind", file, "rewind", pointer.generation, by, clock_ns())
        return Asked(folder.ask(replace(wanted, decisions=_requested(decisions, start))))
    with lease:
        _check_live(expected_live, doing, is_live=False)
        pointer, path = _seen(folder, file, expected_generation, doing)
        _check_stands(pointer, expected_file, doing)
        target = _loaded(doing, path, folder.key, on_progress, should_stop, session_id=folder.session_id)
        start = start_of(folder.path, target, pointer.branch)
        check_decisions(decisions, start.operations, doing)
        stands = go_back(folder, file, target, pointer, start=start, decisions=decisions)
        stands.journal.close()
    after = folder.head()
    return Rewound(file, stands.branch, pointer.generation + 1 if after is None else after.generation)


def _seen(folder: SessionFolder, file: str, expected: int | None, doing: str) -> tuple[HeadPointer, Path]:
    """HEAD, in the generation that the caller expects, and where the checkpoint lies."""
    pointer, listed = folder.head(), folder.listed_one(file)
    if pointer is None or listed is None:
        raise NotFoundError(f"{doing}: it has no checkpoint {file[:80]!r}")
    if expected is not None and pointer.generation != expected:
        raise ConflictError(
            f"{doing}: HEAD was switched since it was looked at: it is at {pointer.file} on branch "
            f"{pointer.branch} (generation {pointer.generation}, seen was {expected})",
            hint="look at the session again",
        )
    return pointer, listed.path


def _check_live(expected: bool | None, doing: str, *, is_live: bool) -> None:
    """A deed is done at once or asked for, and only the one that was said yes to."""
    if expected is not None and expected != is_live:
        moved = "an agent runs it by now" if is_live else "its agent has ended since it was looked at"
        raise ConflictError(f"{doing}: {moved}", hint="look at the session again")


def _check_stands(pointer: HeadPointer, expected: str | None, doing: str) -> None:
    if expected is not None and pointer.file != expected:
        raise ConflictError(
            f"{doing}: it was saved since it was looked at: it is at {pointer.file}, no longer at {expected[:80]}",
            hint="look at the session again",
        )


def _loaded(
    doing: str,
    path: Path,
    key: bytes | None,
    on_progress: Progress | None,
    should_stop: Stop | None,
    session_id: str | None = None,
) -> Checkpoint:
    watch = None
    if on_progress is not None or should_stop is not None:
        watch = ReadWatch(doing, read_head(path, limits=AGENT_LIMITS).file_bytes, on_progress, should_stop)
    return load_from(path, session_id=session_id, key=key, watch=watch)


def _requested(decisions: Decisions, start: BranchStart) -> tuple[RequestedDecision, ...]:
    """As they travel in a request, each with the state that its call is seen in now."""
    seen = {each.entry.op_id: each.entry.state for each in start.operations}
    return tuple(
        RequestedDecision(
            op_id,
            decision.choice,
            seen[op_id],
            decision.by,
            None if decision.value is None else decision.value.raw,
            0 if decision.value is None else decision.value.form,
        )
        for op_id, decision in decisions.items()
    )
