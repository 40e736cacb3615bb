"""What a restore would do, looked up before it is asked for: nothing is changed and no variable is decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tierdeck.checkpoint import CONSOLE_LIMITS, Loss, Summary, open_checkpoint, read_losses
from tierdeck.checkpoint.folder import FoundCheckpoint, HeadPointer, Listed, SessionFolder, verify
from tierdeck.checkpoint.folder.diff import Diff, diff
from tierdeck.checkpoint.journal import Journal
from tierdeck.checkpoint.running import RestoreMode, unknown_calls
from tierdeck.errors import CheckpointError, DamagedCheckpointError, NewerCheckpointError


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """A restore that was not done yet; the calls that go with it are what `operations_at` gives.

    `present` is where the session stands now, None when it has no checkpoint that can be read. `changes` is from
    there to the checkpoint, None when that can't be told. `later` are the checkpoints that stay behind as a left
    branch. `generation` is HEAD's, as it was seen. `problems` is what else is wrong with the session.
    """

    mode: RestoreMode
    target: Listed
    session_id: str
    new_session_id: str | None
    present: Listed | None
    changes: Diff | None
    losses: tuple[Loss, ...]
    later: tuple[Listed, ...]
    session_cost: float | None
    generation: int
    is_live: bool
    problems: tuple[str, ...] = ()


def read_restore_plan(
    found: FoundCheckpoint,
    mode: RestoreMode,
    new_session_id: str | None = None,
    *,
    key: bytes | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> RestorePlan:
    """Look up what restoring the checkpoint would do. The whole file is checked against its trailer first.

    Args:
        key: the operator's, when checkpoints are sealed with one.
        on_progress: told how many of how many bytes were read.
        should_stop: asked while the file is read.

    Raises:
        DamagedCheckpointError, NewerCheckpointError, CheckpointError: it can't be restored: says why.
        StoppedError: it was asked to stop.
    """
    check_restorable(found.listed, key, on_progress, should_stop)
    return plan_as_it_stands(found, mode, new_session_id)


def plan_as_it_stands(found: FoundCheckpoint, mode: RestoreMode, new_session_id: str | None = None) -> RestorePlan:
    """The same without a look at the whole file, for one that was checked; an agent may go on meanwhile.

    Raises:
        NotFoundError, DamagedCheckpointError, CheckpointError: the file or the folder can't be read any more.
    """
    target, folder = found.listed, found.folder
    with open_checkpoint(target.path) as file:
        losses, summary = read_losses(file), file.head.summary
    # HEAD first: what an agent saves in between is listed then, and never is HEAD a file that is not.
    head = folder.head() if folder is not None else None
    listed = folder.listed() if folder is not None else []
    present = _present(listed, head)
    branch = None if head is None else head.branch
    problems = _journal_problems(folder, summary, branch)
    return RestorePlan(
        mode=mode,
        target=target,
        session_id=summary.session_id,
        new_session_id=new_session_id,
        present=present,
        changes=None if present is None else _changes(present, target),
        losses=losses,
        later=_later(listed, target, branch),
        session_cost=_highest_cost(listed),
        generation=0 if head is None else head.generation,
        is_live=folder is not None and folder.is_live(),
        problems=problems if head is None or head.problem is None else (head.problem, *problems),
    )


def check_restorable(
    target: Listed,
    key: bytes | None,
    on_progress: Callable[[int, int], None] | None,
    should_stop: Callable[[], bool] | None,
) -> None:
    """Read the whole file and check it against its trailer. Raises as `read_restore_plan`."""
    result = verify(target.path, CONSOLE_LIMITS, key=key, on_progress=on_progress, should_stop=should_stop)
    if result.state == "ok":
        return
    kind = {"damaged": DamagedCheckpointError, "newer": NewerCheckpointError}.get(result.state, CheckpointError)
    raise kind(result.why or f"restore checkpoint {target.file}: it is {result.state}")


def _present(listed: Sequence[Listed], head: HeadPointer | None) -> Listed | None:
    """Where the session stands by the listing; where the HEAD file can't be read, by what stands in for it."""
    if head is None:
        return None
    return next((each for each in listed if each.is_head or (bool(head.problem) and each.file == head.file)), None)


def _changes(present: Listed, target: Listed) -> Diff | None:
    if present.file == target.file:
        return None
    try:
        with open_checkpoint(present.path) as now, open_checkpoint(target.path) as then:
            return diff(now, then)
    except CheckpointError:
        return None  # the present is damaged; the plan says that it can't be compared


def _journal_problems(folder: SessionFolder | None, target: Summary, current: str | None) -> tuple[str, ...]:
    """What is wrong with the journals of the branch that is gone back to and of the one that is left."""
    if folder is None:
        return ()
    problems: list[str] = []
    for branch in dict.fromkeys((target.branch, current or target.branch)):
        try:
            journal = Journal(folder.path, branch)
        except CheckpointError as e:
            problems.append(e.message)
            continue
        unknown = unknown_calls(journal, target.turn, target.writer) if branch == target.branch else None
        problems += [*([] if unknown is None else [unknown]), *journal.notes]
    return tuple(problems)


def _later(listed: Sequence[Listed], target: Listed, branch: str | None) -> tuple[Listed, ...]:
    return tuple(
        each
        for each in listed
        if each.sequence > target.sequence and each.summary is not None and each.summary.branch == branch
    )


def _highest_cost(listed: Sequence[Listed]) -> float | None:
    costs = [each.summary.cost_so_far for each in listed if each.summary is not None]
    return max((cost for cost in costs if cost is not None), default=None)
