"""A restore that an operator has asked a running session for: what it leads to, looked up anew, and done."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tierdeck.checkpoint.checkpoint import Checkpoint
from tierdeck.checkpoint.folder import HeadPointer, Request, SessionFolder
from tierdeck.checkpoint.running.choose import load_from
from tierdeck.checkpoint.running.decisions import requested_decisions
from tierdeck.checkpoint.running.restoring import Standing, go_back, start_of
from tierdeck.checkpoint.running.spending import Spending
from tierdeck.errors import ConflictError, NotFoundError


@dataclass(frozen=True, slots=True)
class AskedRestore:
    """What is gone back to, and HEAD as it was when that was looked up."""

    request: Request
    pointer: HeadPointer
    file: str
    target: Checkpoint


def asked_restore(folder: SessionFolder, request: Request) -> AskedRestore:
    """The checkpoint that is asked for, read whole; nothing is changed.

    Raises:
        NotFoundError: it is not there any more.
        ConflictError: HEAD was switched since it was asked.
        CheckpointError: it can't be read.
    """
    pointer, listed = folder.head(), folder.listed_one(request.file or "")
    if pointer is None or listed is None:
        raise NotFoundError(f"restore checkpoint {request.file}: it is not there any more")
    if pointer.generation != request.expected_generation:
        raise ConflictError(
            f"restore checkpoint: HEAD was switched since it was asked for: it is at {pointer.file} "
            f"(generation {pointer.generation}, seen was {request.expected_generation})"
        )
    target = load_from(listed.path, session_id=folder.session_id, key=folder.key)
    return AskedRestore(request, pointer, listed.file, target)


def go_back_as_asked(
    folder: SessionFolder, asked: AskedRestore, *, branch: str | None, now: Spending | None
) -> Standing:
    """Go back, with the decisions that came with the request; those that can't be kept are named in `problems`.

    Args:
        branch: the one that the agent leaves; None is HEAD's.
        now: what the session has cost; None takes it from what is on disk.

    Raises:
        ConflictError, CheckpointError: as `go_back`; HEAD is as it was.
    """
    pointer = asked.pointer if branch is None else replace(asked.pointer, branch=branch)
    start = start_of(folder.path, asked.target, pointer.branch)
    decisions, left_open = requested_decisions(asked.request, start.operations)
    stands = go_back(
        folder,
        asked.file,
        asked.target,
        pointer,
        start=start,
        now=now,
        request_id=asked.request.request_id,
        decisions=decisions,
    )
    return replace(stands, problems=(*stands.problems, *left_open))
