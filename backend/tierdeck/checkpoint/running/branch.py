"""A branch that begins at a checkpoint: it knows what was done in the world since, though that is not its past."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation
from tierdeck.checkpoint.folder.listing import Owner, list_files
from tierdeck.checkpoint.folder.tip import current_head
from tierdeck.checkpoint.journal import (
    BranchLine,
    Decisions,
    Entry,
    Journal,
    call_digest,
    journalled_branches,
    store_value,
)
from tierdeck.checkpoint.limits import CONSOLE_LIMITS
from tierdeck.checkpoint.running.question import OpenOperation, open_operations
from tierdeck.checkpoint.running.spending import Spending
from tierdeck.checkpoint.running.turn_state import WRITER
from tierdeck.errors import CheckpointError

_MADE = frozenset({"running", "done", "failed"})
_OPEN = frozenset({"pending", "running"})


@dataclass(frozen=True, slots=True)
class BranchStart:
    """What a branch that goes on from a checkpoint begins with.

    `planned` is what the checkpoint had planned; `before` the calls with side effects that were made after it, on
    its branch or on others: each asks before it is made again. `unknown` says why there may be more of those.
    """

    planned: tuple[Entry, ...]
    before: tuple[Entry, ...]
    unknown: str | None = None

    @property
    def operations(self) -> tuple[OpenOperation, ...]:
        """All that can be decided about."""
        return open_operations(self.planned, self.before)


def new_branch() -> str:
    """The name of a branch that nothing has yet."""
    return secrets.token_hex(4)


def branch_start(
    source: Path,
    branch: str,
    turn: int,
    operations: Sequence[Operation],
    *,
    writer: Mapping[str, str],
    current: str | None = None,
) -> BranchStart:
    """What a branch would begin with that goes on from a checkpoint; nothing is changed.

    Args:
        source: the folder of the session that the checkpoint is of.
        branch, turn, operations, writer: the checkpoint's.
        current: the branch that is left, when it is known and not the checkpoint's.

    Raises:
        DamagedCheckpointError, NewerCheckpointError, CheckpointError: a journal can't be read.
    """
    journals = _Journals(source)
    still_open = [operation for operation in operations if operation.state in _OPEN]
    here = journals.of(branch)
    left = dict.fromkeys((branch, current or branch, *_unsaved(source, {branch, current})))
    past = journals.past(branch, turn) - {operation.op_id for operation in still_open}
    before: dict[str, Entry] = {}
    for name in left:
        for entry in journals.made_on(name, past):
            before.setdefault(entry.op_id, entry)
    planned = tuple(_planned(operation, branch, here.find(operation.op_id)) for operation in still_open)
    for operation, entry in zip(still_open, planned, strict=True):
        # A copy of a file has no journal beside it, and says itself what was under way.
        if operation.state == "running" and entry.has_side_effects and here.find(entry.op_id) is None:
            before.setdefault(entry.op_id, replace(entry, state="running", starts=1))
    return BranchStart(planned, tuple(before.values()), unknown_calls(here, turn, writer))


def unknown_calls(journal: Journal, turn: int, writer: Mapping[str, str]) -> str | None:
    """Why calls that were made after a checkpoint may not be known; None when all are.

    Args:
        journal: of the branch that goes on from it, or of its own.
        turn, writer: the checkpoint's. What an import made never had a journal.
    """
    if turn == 0 or WRITER not in writer or journal.reaches(turn):
        return None
    return (
        f"{journal.path.name}: the journal is gone or cut off before the end of turn {turn}: "
        "calls made since are not known, and are made again"
    )


def begin_branch(
    folder: Path,
    session_id: str,
    branch: str,
    target: Checkpoint,
    start: BranchStart,
    *,
    spending: Spending,
    decisions: Decisions,
) -> None:
    """Write the journal of a new branch that goes on from a checkpoint.

    Args:
        folder: of the session that goes on.
        start: what the branch begins with.
        spending: the session's account, as it is after this.
        decisions: what was said about what it begins with; checked.

    Raises:
        CheckpointError: it can't be written. Nothing goes on from it then.
    """
    spent, tokens = spending.before
    line = BranchLine(session_id, branch, target.branch, target.turn, spent, tokens)
    journal = Journal(folder, branch, line=line)
    try:
        journal.begin(start.planned, start.before, decisions)
    finally:
        journal.close()


def current_branch(source: Path) -> str | None:
    """The branch that a session stands on, as far as its folder tells; None when it does not."""
    try:
        pointer = current_head(source, Owner(None, CONSOLE_LIMITS))
    except CheckpointError:
        return None
    return None if pointer is None else pointer.branch


def _unsaved(source: Path, but: Collection[str | None]) -> list[str]:
    """The other branches with a journal and no checkpoint: of an agent that began anew and has saved nothing."""
    found = [branch for branch in journalled_branches(source) if branch not in but]
    if not found:
        return []
    listed = list_files(source, Owner(None, CONSOLE_LIMITS), {})
    saved = {each.summary.branch for each in listed if each.summary is not None}
    return [branch for branch in found if branch not in saved]


class _Journals:
    """The journals of a folder, each read once."""

    def __init__(self, source: Path) -> None:
        self.of = cache(lambda branch: Journal(source, branch))

    def past(self, branch: str | None, turn: int) -> set[str]:
        """The calls that led to that turn, on the branch and on those it came from."""
        found: set[str] = set()
        seen: set[str] = set()
        while branch is not None and branch not in seen:
            seen.add(branch)
            journal = self.of(branch)
            found |= {entry.op_id for entry in journal.operations() if entry.turn <= turn}
            branch, turn = journal.line.parent, min(turn, journal.line.parent_turn)
        return found

    def made_on(self, branch: str, past: set[str]) -> list[Entry]:
        """The calls with side effects that the branch knows to be made, and that are not in that past.

        One of a branch that was left, and that was decided about and came again in that past, is settled there.
        """
        journal = self.of(branch)
        settled = Counter(
            entry.digest for entry in journal.operations() if entry.op_id in past and entry.state != "pending"
        )
        found = []
        for entry in journal.before():
            settled[entry.digest] -= 1
            if settled[entry.digest] < 0 and _was_made(entry, past):
                found.append(entry)
        return found + [entry for entry in journal.operations() if _was_made(entry, past)]


def _was_made(entry: Entry, past: set[str]) -> bool:
    # One that was only decided about has no start: it was made elsewhere, or never.
    return entry.has_side_effects and entry.starts > 0 and entry.state in _MADE and entry.op_id not in past


def _planned(operation: Operation, branch: str, known: Entry | None) -> Entry:
    """As the new journal has it; `branch` is the one it was planned on."""
    # The journal may have a long request as one line only, and the digest of all of it.
    digest = call_digest(operation.kind, operation.request) if known is None else known.digest
    return Entry(
        operation.op_id,
        operation.kind,
        "pending",
        operation.turn,
        operation.has_side_effects,
        digest,
        branch,
        store_value(operation.request),
    )
