"""What an operator does with a checkpoint without running an agent: fork it, or have its session go back to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tierdeck.checkpoint.folder import Request, SessionFolder, open_session_folder
from tierdeck.checkpoint.limits import AGENT_LIMITS
from tierdeck.checkpoint.running.branch import new_branch
from tierdeck.checkpoint.running.choose import load_from
from tierdeck.checkpoint.running.restoring import go_back, take_in
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


def fork(root: Path, path: Path, *, as_: str | None = None, clock_ns: Callable[[], int] = time.time_ns) -> Forked:
    """Make a session of its own from a checkpoint; the old one is untouched, and may be running.

    The new one knows which calls with side effects the old one made after the checkpoint, and asks before each is
    made again. Nothing of the checkpoint is run.

    Args:
        root: the folder of all sessions' checkpoints.
        path: the checkpoint's file.
        as_: the new session's id; None makes one of the old id.

    Raises:
        ConflictError: a session of that id is there already.
        NotFoundError, DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError: the file can't be read.
        InvalidValueError: the id is none.
        CheckpointError: the new session can't be written; what was written of it stands.

    Spec: SPEC-09.23
    """
    target = load_from(path)
    session_id = as_ if as_ is not None else f"{target.session_id}-fork-{new_branch()}"
    folder = open_session_folder(root, session_id, create=True, limits=AGENT_LIMITS)
    lease = folder.try_lease()
    if lease is None or folder.listed():
        if lease is not None:
            lease.release()
        raise ConflictError(
            f"fork checkpoint {path.name}: session {session_id[:80]} is there already", hint="give another id"
        )
    with lease:
        stands = take_in(folder, path, target, clock_ns=clock_ns)
        stands.journal.close()
    return Forked(session_id, stands.branch, stands.path)


def rewind(
    folder: SessionFolder, file: str, *, by: str, clock_ns: Callable[[], int] = time.time_ns
) -> Rewound | Asked:
    """Have a session go back to one of its checkpoints. Later ones stay, on the branch that is left.

    When no agent runs it, HEAD moves at once: the present is its newest checkpoint and its journal, which stay.
    Else its agent is asked; it saves the present, goes back and answers at its next turn.

    Args:
        file: the checkpoint's name in the folder.
        by: who asks, 1 to 200 characters.

    Raises:
        NotFoundError: no such checkpoint is there.
        ConflictError: HEAD was switched meanwhile, or another request waits.
        DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError: it can't be read whole.
        CheckpointError: the disk refuses. HEAD is as it was in each case.

    Spec: SPEC-09.23
    """
    pointer = folder.head()
    listed = folder.listed_one(file)
    if pointer is None or listed is None:
        raise NotFoundError(f"rewind session {folder.session_id[:80]}: it has no checkpoint {file[:80]!r}")
    lease = folder.try_lease()
    if lease is None:
        generation = pointer.generation
        return Asked(folder.ask(Request("rewind", file, "rewind", generation, by, clock_ns())))
    with lease:
        stands = go_back(folder, file, load_from(listed.path, session_id=folder.session_id), pointer)
        stands.journal.close()
    after = folder.head()
    return Rewound(file, stands.branch, pointer.generation + 1 if after is None else after.generation)
