"""A session made to stand at a checkpoint: its branch, its account, its journal, and what is said of it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os.path import samefile
from pathlib import Path

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation, Origin
from tierdeck.checkpoint.file.pack import pack_checkpoint
from tierdeck.checkpoint.folder import SessionFolder, Skipped
from tierdeck.checkpoint.folder.head_pointer import HeadPointer
from tierdeck.checkpoint.folder.listing import file_names
from tierdeck.checkpoint.journal import NO_DECISIONS, BranchLine, Decisions, Journal, journalled_branches
from tierdeck.checkpoint.running.branch import (
    BranchStart,
    begin_branch,
    branch_start,
    current_branch,
    new_branch,
    unknown_calls,
)
from tierdeck.checkpoint.running.choose import Chosen, load_from
from tierdeck.checkpoint.running.spending import Spending, rewound, spending_at
from tierdeck.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a session stands after a restore."""

    checkpoint: Checkpoint
    path: Path
    branch: str
    spending: Spending
    journal: Journal
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[str, ...] = ()


def stand_at(folder: SessionFolder, chosen: Chosen) -> Standing:
    """Go on from the checkpoint that was chosen; not at HEAD, or with its journal lost, it begins a new branch.

    Raises:
        CheckpointError: a journal can't be read or written, or HEAD not switched; the session is as it was.
    """
    journal = None
    if chosen.branch is not None:
        journal = Journal(folder.path, chosen.branch, line=BranchLine(folder.session_id, chosen.branch))
    if journal is None or chosen.branch is None or lacks(journal, chosen.checkpoint.pending_operations):
        stands = go_back(folder, chosen.path.name, chosen.checkpoint, chosen.pointer)
        return replace(stands, skipped=chosen.skipped, problems=(*_said(chosen.pointer.problem), *stands.problems))
    unknown = unknown_calls(journal, chosen.checkpoint.turn, chosen.checkpoint.writer)
    there = account_at(folder.path, chosen.checkpoint)
    spent, tokens = journal.line.spent_before, journal.line.tokens_before
    spending = known_at_least(there.on_branch(spent, tokens), journal)
    return Standing(
        chosen.checkpoint,
        chosen.path,
        chosen.branch,
        spending,
        journal,
        chosen.skipped,
        (*_said(chosen.pointer.problem, unknown), *journal.notes),
    )


def stand_at_path(folder: SessionFolder, path: Path, *, clock_ns: Callable[[], int] = time.time_ns) -> Standing:
    """Go on from the checkpoint at a path: the session's own, HEAD's or another, or one from elsewhere.

    Raises:
        NotFoundError, CheckpointError: it can't be read, or as `stand_at`, `go_back` and `take_in`.
    """
    target, pointer = load_from(path, key=folder.key), folder.head()
    own = folder.listed_one(path.name)
    is_here = target.session_id == folder.session_id and own is not None and samefile(path, own.path)
    if not is_here or pointer is None:
        return take_in(folder, path, target, clock_ns=clock_ns)
    if pointer.file == path.name:
        return stand_at(folder, Chosen(path, target, pointer.branch, pointer, ()))
    return go_back(folder, path.name, target, pointer)


def go_back(
    folder: SessionFolder,
    file: str,
    target: Checkpoint,
    pointer: HeadPointer,
    *,
    start: BranchStart | None = None,
    now: Spending | None = None,
    request_id: str | None = None,
    decisions: Decisions = NO_DECISIONS,
) -> Standing:
    """Switch HEAD to a checkpoint of the session, on a new branch.

    Args:
        pointer: HEAD as the caller saw it.
        start: what the new branch begins with; None looks it up.
        now: what the session has cost; None takes it from what is on disk.
        request_id: of the request that this fulfils.
        decisions: about what the new branch begins with; checked.

    Raises:
        ConflictError: HEAD was switched since.
        CheckpointError: a journal can't be read or written, or HEAD not switched. HEAD is as it was in each case.
    """
    branch = new_branch()
    spending = rewound(now or account_now(folder, pointer), account_at(folder.path, target))
    start = start or start_of(folder.path, target, pointer.branch)
    begin_branch(folder.path, folder.session_id, branch, target, start, spending=spending, decisions=decisions)
    folder.switch_head(file, branch, expected_generation=pointer.generation, last_request=request_id)
    journal = Journal(folder.path, branch, line=BranchLine(folder.session_id, branch))
    return Standing(target, folder.path / file, branch, spending, journal, problems=_said(start.unknown))


def take_in(
    folder: SessionFolder,
    path: Path,
    target: Checkpoint,
    *,
    start: BranchStart | None = None,
    decisions: Decisions = NO_DECISIONS,
    clock_ns: Callable[[], int] = time.time_ns,
) -> Standing:
    """Have a session go on from a checkpoint that lies elsewhere, another session's or a copy: saved here first.

    Args:
        start: what the new branch begins with; None looks it up beside the file.
        decisions: about that; checked.

    Raises:
        CheckpointError: it can't be saved here, or a journal not be read or written; HEAD is as it was.
    """
    is_ours = target.session_id == folder.session_id
    branch, pointer, source = new_branch(), folder.head(), folder.path if is_ours else path.parent
    there = account_at(source, target)
    if is_ours and pointer is not None:
        spending = rewound(account_now(folder, pointer), there)
    else:
        spending = there.on_branch(0.0, 0)
    taken = replace(
        target,
        session_id=folder.session_id,
        checkpoint_id=secrets.token_hex(8),
        created_at_ns=clock_ns(),
        reason="manual",
        label=None,
        branch=branch,
        parent=target.checkpoint_id if is_ours else None,
        origin=target.origin if is_ours else Origin(target.session_id, target.checkpoint_id),
        cost_so_far=spending.session,
        tokens=spending.session_tokens,
    )
    start = start or start_of(source, target, current_branch(source))
    begin_branch(folder.path, folder.session_id, branch, target, start, spending=spending, decisions=decisions)
    saved = folder.save(pack_checkpoint(taken))
    generation = 0 if pointer is None else pointer.generation
    folder.switch_head(saved.path.name, branch, expected_generation=generation)
    journal = Journal(folder.path, branch, line=BranchLine(folder.session_id, branch))
    return Standing(taken, saved.path, branch, spending, journal, problems=_said(start.unknown))


def start_of(source: Path, target: Checkpoint, current: str | None) -> BranchStart:
    """What a branch begins with that goes on from the checkpoint; raises as `branch_start`."""
    operations, writer = target.pending_operations, target.writer
    return branch_start(source, target.branch, target.turn, operations, writer=writer, current=current)


def account_at(source: Path, target: Checkpoint) -> Spending:
    """What had been spent when the checkpoint was made.

    Args:
        source: the folder of its session, which has the journal of its branch.
    """
    line = Journal(source, target.branch).line
    return spending_at(target.cost_so_far, target.tokens, line.spent_before, line.tokens_before)


def account_now(folder: SessionFolder, pointer: HeadPointer) -> Spending:
    """What the session has cost, as far as it is on disk: by its newest checkpoint, and the turns noted since."""
    listed = folder.listed_one(pointer.file)
    journal = Journal(folder.path, pointer.branch)
    spent, tokens = journal.line.spent_before, journal.line.tokens_before
    if listed is None or listed.summary is None:
        return known_at_least(Spending(None, None, None, None), journal)
    line = Journal(folder.path, listed.summary.branch).line
    there = spending_at(listed.summary.cost_so_far, listed.summary.tokens, line.spent_before, line.tokens_before)
    return known_at_least(there.on_branch(spent, tokens), journal)


def known_at_least(spending: Spending, journal: Journal) -> Spending:
    """The account with the turns noted after the checkpoint: what they cost is spent, though they are lost."""
    last = journal.last()
    return spending if last is None else spending.at_least(last.cost_of_session, last.tokens_of_session)


def lacks(journal: Journal, operations: Sequence[Operation]) -> bool:
    """Whether the journal of a branch does not have what a checkpoint of it had not finished: it was lost."""
    return any(journal.find(operation.op_id) is None for operation in operations)


def newest_journal(folder: SessionFolder) -> Journal | None:
    """The journal of a session that has no checkpoints yet: of several, the one that was written last."""
    found = [
        Journal(folder.path, branch, line=BranchLine(folder.session_id, branch))
        for branch in journalled_branches(folder.path)
    ]
    return max(found, key=lambda journal: journal.last_at_ns, default=None)


def last_unsaved_ns(folder: SessionFolder) -> int:
    """When a session that has no checkpoints yet made its latest call; 0 when it has some, which tell the order."""
    latest_ns = 0
    if not file_names(folder.path):
        for branch in journalled_branches(folder.path):
            with suppress(CheckpointError):  # said when it is gone on from
                latest_ns = max(latest_ns, Journal(folder.path, branch).last_at_ns)
    return latest_ns


def _said(*problems: str | None) -> tuple[str, ...]:
    return tuple(problem for problem in problems if problem is not None)
