"""Which checkpoints of a session need not be kept: planned, shown, and only then moved to the trash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tierdeck.checkpoint.folder.lineage import branch_points, fork_parents
from tierdeck.checkpoint.folder.listing import Listed, State
from tierdeck.checkpoint.folder.marks import Marks, read_marks
from tierdeck.checkpoint.folder.session_folder import SessionFolder
from tierdeck.checkpoint.folder.stored import Skipped
from tierdeck.checkpoint.folder.trash import Emptied, empty_trash, list_trash, move_to_trash
from tierdeck.checkpoint.folder.verify import Progress, Stop, verify
from tierdeck.checkpoint.limits import GB, MB
from tierdeck.config import CheckpointSettings
from tierdeck.errors import CheckpointError, ConflictError, InvalidValueError, NotFoundError

DAY_NS = 86_400_000_000_000
_UNFINISHED = ("pending", "running")


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """What is kept of the checkpoints nothing protects.

    Of each branch the last so many; of those none older than `max_age_days`; and the oldest go until all of the
    session, protected ones counted, take no more than `max_bytes`. None: no such rule. What retention after a save
    puts into the trash stays there while it takes no more than `max_trash_bytes`.
    """

    last_per_branch: int = 10
    max_bytes: int | None = 2 * GB
    max_age_days: float | None = None
    max_trash_bytes: int = 100 * MB


def policy_of(settings: CheckpointSettings) -> RetentionPolicy:
    """What the settings say is kept; of age and trash only what they name."""
    return RetentionPolicy(settings.keep_last, settings.keep_mb * MB, settings.keep_days or None)


class Kept(NamedTuple):
    """A checkpoint that stays, and why."""

    listed: Listed
    why: str


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What a policy means for a session as it is now; both lists oldest first.

    `over_budget` says so when what is protected takes more than the budget alone.
    """

    delete: tuple[Listed, ...]
    kept: tuple[Kept, ...]
    delete_bytes: int
    kept_bytes: int
    trash_bytes: int
    over_budget: str | None
    generation: int
    policy: RetentionPolicy


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What was moved to the trash, what was passed over as protected by now, what left the trash for good.

    `is_stopped`: it was asked to stop, and did not move all of the plan.
    """

    moved: tuple[str, ...]
    moved_bytes: int
    passed_over: tuple[Skipped, ...]
    emptied: Emptied
    is_stopped: bool = False


def plan_prune(
    folder: SessionFolder,
    policy: RetentionPolicy,
    *,
    on_progress: Progress | None = None,
    should_stop: Stop | None = None,
) -> PrunePlan:
    """What retention would take away; nothing is changed.

    Never taken: what is pinned, labelled, made by hand, HEAD and what it was switched to, where a branch or another
    session began, what has unfinished operations, what a request names, what can't be read, and the newest that
    verifies. For the last, files may be read whole, newest first, when there is something to take.

    Args:
        on_progress: told how many of how many sessions were asked what they began from.
        should_stop: asked between sessions, and while a file is read.

    Raises:
        StoppedError: it was asked to stop.
        InvalidValueError: the policy keeps less than one of each branch.
        DamagedCheckpointError: marks or HEAD can't be read: what they protect is not known then.
        CheckpointError: a folder can't be read.
    """
    if policy.last_per_branch < 1:
        raise InvalidValueError(f"plan retention: at least 1 of each branch is kept, not {policy.last_per_branch}")
    read_marks(folder.path)
    base = folder.switched_head()
    listed = folder.listed()
    protected = _protected(folder, listed, None if base is None else base.file)
    going = _going(folder, listed, protected, policy)
    if going:
        protected |= {
            file: why
            for file, why in _costly(folder, listed, on_progress, should_stop).items()
            if file not in protected
        }
        going = _going(folder, listed, protected, policy)
    delete = tuple(each for each in listed if each.file in going)
    kept = tuple(
        Kept(each, protected.get(each.file, "one of the last of its branch"))
        for each in listed
        if each.file not in going
    )
    kept_bytes = sum(each.listed.size_bytes for each in kept)
    trash_bytes = sum(each.size_bytes for each in list_trash(folder))
    return PrunePlan(
        delete,
        kept,
        sum(each.size_bytes for each in delete),
        kept_bytes,
        trash_bytes,
        _over_budget(policy, kept, kept_bytes, trash_bytes),
        0 if base is None else base.generation,
        policy,
    )


def prune(
    folder: SessionFolder,
    plan: PrunePlan,
    *,
    is_automatic: bool = False,
    on_progress: Progress | None = None,
    should_stop: Stop | None = None,
) -> PruneReport:
    """Move to the trash what the plan says and nothing protects by now; then empty the trash of what is old.

    Args:
        is_automatic: retention after a save: what it puts into the trash is bounded by the policy.
        on_progress: told how many of how many were moved.
        should_stop: asked before each; the report says what was moved until then, and that it was stopped.

    Raises:
        ConflictError: HEAD was switched since the plan was made; nothing was moved.
        DamagedCheckpointError: marks or HEAD can't be read by now; nothing was moved.
        CheckpointError: the disk refuses; some may have been moved, none is lost.
    """
    with folder.locked():
        base = folder.switched_head()
        if (0 if base is None else base.generation) != plan.generation:
            raise ConflictError("prune checkpoints: HEAD was switched since the plan was made", hint="plan again")
        marks = read_marks(folder.path)
        asked = folder.requested_file()
        passed = [Skipped(each.file, why) for each in plan.delete if (why := _protected_now(each, marks, asked))]
        kept = {skipped.file for skipped in passed}
        wanted = [each.file for each in plan.delete if each.file not in kept]
        moved = move_to_trash(
            folder, wanted, is_automatic=is_automatic, on_progress=on_progress, should_stop=should_stop
        )
    if len(moved) < len(wanted):
        emptied = Emptied((), 0)
    else:
        emptied = empty_trash(folder, max_automatic_bytes=plan.policy.max_trash_bytes if is_automatic else None)
    moved_bytes = sum(each.size_bytes for each in plan.delete if each.file in set(moved))
    return PruneReport(tuple(moved), moved_bytes, tuple(passed), emptied, is_stopped=len(moved) < len(wanted))


def _protected_now(each: Listed, marks: Marks, asked: str | None) -> str | None:
    """What has come to protect it since the plan was made."""
    if each.file in marks.pins:
        return "pinned"
    if marks.labels.get(each.file) is not None:
        return "labelled"
    return "a request names it" if each.file == asked else None


def _protected(folder: SessionFolder, listed: Sequence[Listed], base: str | None) -> dict[str, str]:
    asked = folder.requested_file()
    began = branch_points(listed)
    found = {}
    for each in listed:
        why = _why_protected(each)
        if why is None and each.file == base:
            why = "HEAD was switched to it"
        if why is None and each.file == asked:
            why = "a request names it"
        if why is None and each.summary is not None and each.summary.checkpoint_id in began:
            why = "a branch began at it"
        if why is not None:
            found[each.file] = why
    return found


def _why_protected(each: Listed) -> str | None:
    if each.summary is None:
        return "written by a newer version" if each.state == "newer" else "it can't be read"
    unfinished = sum(each.summary.pending.get(state, 0) for state in _UNFINISHED)
    for is_so, why in (
        (each.is_pinned, "pinned"),
        (each.is_head, "HEAD"),
        (each.label is not None, "labelled"),
        (each.summary.reason == "manual", "made by hand"),
        (unfinished > 0, f"it has {unfinished} unfinished operations"),
    ):
        if is_so:
            return why
    return None


def _costly(
    folder: SessionFolder, listed: Sequence[Listed], on_progress: Progress | None, should_stop: Stop | None
) -> dict[str, str]:
    """What takes reading of other sessions and of whole files to know."""
    found = {}
    parents = fork_parents(folder, on_progress=on_progress, should_stop=should_stop)
    for each in listed:
        if each.summary is not None and each.summary.checkpoint_id in parents:
            found[each.file] = "another session began at it"
    for each in reversed(listed):
        if each.summary is None:
            continue
        state = _state_of(each, folder, should_stop)
        if state == "ok":
            found.setdefault(each.file, "the newest that verifies")
            return found
        found.setdefault(each.file, f"newer than all that verify, and {state}")
    return found


def _state_of(each: Listed, folder: SessionFolder, should_stop: Stop | None) -> State:
    try:
        return verify(each.path, folder.limits, key=folder.key, should_stop=should_stop).state
    except (CheckpointError, NotFoundError):
        return "not verified"


def _going(
    folder: SessionFolder, listed: Sequence[Listed], protected: Mapping[str, str], policy: RetentionPolicy
) -> set[str]:
    free = [each for each in listed if each.file not in protected]
    going = {each.file for each in _beyond_last(listed, policy.last_per_branch)} & {each.file for each in free}
    if policy.max_age_days is not None:
        before_ns = folder.clock_ns() - policy.max_age_days * DAY_NS
        going |= {each.file for each in free if each.summary and each.summary.created_at_ns < before_ns}
    if policy.max_bytes is not None:
        left_bytes = sum(each.size_bytes for each in listed if each.file not in going)
        for each in free:
            if left_bytes > policy.max_bytes and each.file not in going:
                going.add(each.file)
                left_bytes -= each.size_bytes
    return going


def _beyond_last(listed: Iterable[Listed], last_per_branch: int) -> list[Listed]:
    """Those that are not among the last of their branch; one known to be damaged does not count as one of them."""
    seen: Counter[str] = Counter()
    beyond = []
    for each in sorted(listed, key=lambda each: each.sequence, reverse=True):
        if each.summary is None:
            continue
        if seen[each.summary.branch] >= last_per_branch:
            beyond.append(each)
        elif each.state != "damaged":
            seen[each.summary.branch] += 1
    return beyond


def _over_budget(policy: RetentionPolicy, kept: Sequence[Kept], kept_bytes: int, trash_bytes: int) -> str | None:
    if policy.max_bytes is None or kept_bytes <= policy.max_bytes:
        return None
    return (
        f"{len(kept)} protected checkpoints take {kept_bytes:,} bytes, the budget is {policy.max_bytes:,}"
        f" (and {trash_bytes:,} lie in the trash): unpin, take labels away, or raise the budget"
    )
