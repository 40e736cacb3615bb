"""What a session will have to be told when it goes on from a checkpoint, known before anything is done about it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tierdeck.checkpoint.file.load import read_operations
from tierdeck.checkpoint.file.reading import open_checkpoint
from tierdeck.checkpoint.folder import FoundCheckpoint, SessionFolder
from tierdeck.checkpoint.limits import CONSOLE_LIMITS
from tierdeck.checkpoint.running.branch import BranchStart, branch_start, current_branch
from tierdeck.checkpoint.running.question import OpenOperation, Question
from tierdeck.errors import CheckpointError

RestoreMode = Literal["fork", "rewind"]


def operations_at(found: Path | FoundCheckpoint, mode: RestoreMode) -> tuple[OpenOperation, ...]:
    """The calls that can be decided about when a session goes on from that checkpoint; nothing is changed.

    First those that the checkpoint has as unfinished, then those with side effects that were made after it, on any
    branch that led away from it; each once. No variable is decoded.

    Args:
        found: the checkpoint, or its file. Of a file outside a session's folder only what it says itself is known.
        mode: the calls are the same for both; a rewind is refused for a checkpoint in no session's folder.

    Raises:
        NotFoundError: no file is there.
        DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError: it, or a journal, can't be read.
        CheckpointError: it can't be read; or it is to be rewound to and lies in no session's folder.

    Spec: SPEC-09.23
    """
    path = found if isinstance(found, Path) else found.listed.path
    folder = None if isinstance(found, Path) else found.folder
    if mode == "rewind" and folder is None and not isinstance(found, Path):
        raise CheckpointError(f"rewind to {path}: it lies in no session's folder", hint="it can be forked")
    return start_at(path, folder).operations


def questions_at(found: Path | FoundCheckpoint, mode: RestoreMode) -> tuple[Question, ...]:
    """What the agent will ask when it goes on from that checkpoint, unless it is decided before.

    Args and errors as `operations_at`; nothing is changed. An agent that runs now may do more until it goes back,
    and asks about that too.

    Spec: SPEC-09.23
    """
    return tuple(each.question for each in operations_at(found, mode) if each.question is not None)


def start_at(path: Path, folder: SessionFolder | None = None) -> BranchStart:
    """What a branch would begin with that goes on from the checkpoint in that file; raises as `operations_at`.

    Args:
        folder: the session's, when it is open; HEAD is worked out by it even where the file HEAD can't be read.
    """
    with open_checkpoint(path, limits=CONSOLE_LIMITS) as file:
        operations, summary = read_operations(file), file.head.summary
    pointer = None if folder is None else folder.head()
    current = current_branch(path.parent) if pointer is None else pointer.branch
    return branch_start(
        path.parent, summary.branch, summary.turn, operations, writer=summary.writer, current=current
    )
