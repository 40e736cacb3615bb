"""A branch that begins at a checkpoint: it knows what was done in the world since, though that is not its past."""

from __future__ import annotations

import secrets
from pathlib import Path

from tierdeck.checkpoint.checkpoint import Checkpoint, Operation
from tierdeck.checkpoint.journal import BranchLine, Entry, Journal, call_digest, store_value
from tierdeck.checkpoint.running.spending import Spending

_MADE = frozenset({"running", "done", "failed"})
_OPEN = frozenset({"pending", "running"})


def new_branch() -> str:
    """The name of a branch that nothing has yet."""
    return secrets.token_hex(4)


def begin_branch(
    folder: Path,
    session_id: str,
    branch: str,
    target: Checkpoint,
    *,
    spending: Spending,
    current: str | None = None,
    source: Path | None = None,
) -> None:
    """Write the journal of a new branch that goes on from a checkpoint.

    It gets what the checkpoint had planned, and the calls with side effects that were made after it, on its branch
    or on others: each asks before it is made again.

    Args:
        folder: of the session that goes on.
        spending: its account, as it is after this.
        current: the branch that is left, when it is not the checkpoint's.
        source: the folder of the session that the checkpoint is of; None is the same.

    Raises:
        CheckpointError: a journal can't be read, or the new one can't be written. Nothing goes on from it then.
    """
    spent, tokens = spending.before
    line = BranchLine(session_id, branch, target.branch, target.turn, spent, tokens)
    made = _made_elsewhere(source or folder, target, current)
    planned = [_planned(operation, branch) for operation in target.pending_operations if operation.state in _OPEN]
    journal = Journal(folder, branch, line=line)
    try:
        journal.open()
        if made:
            journal.note_before(made)
        if planned:
            journal.plan(planned)
    finally:
        journal.close()


def _made_elsewhere(source: Path, target: Checkpoint, current: str | None) -> list[Entry]:
    """The calls with side effects that the checkpoint does not remember, in the order they were written down."""
    still_open = {operation.op_id for operation in target.pending_operations}
    past = _past(source, target.branch, target.turn) - still_open
    found: dict[str, Entry] = {}
    for branch in dict.fromkeys((target.branch, current or target.branch)):
        journal = Journal(source, branch)
        for entry in (*journal.before(), *journal.operations()):
            # One that was only decided about has no start: it was made elsewhere, or never.
            was_made = entry.has_side_effects and entry.starts > 0 and entry.state in _MADE
            if was_made and entry.op_id not in past:
                found.setdefault(entry.op_id, entry)
    return list(found.values())


def _past(source: Path, branch: str | None, turn: int) -> set[str]:
    """The calls that led to that turn, on the branch and on those it came from."""
    found: set[str] = set()
    seen: set[str] = set()
    while branch is not None and branch not in seen:
        seen.add(branch)
        journal = Journal(source, branch)
        found |= {entry.op_id for entry in journal.operations() if entry.turn <= turn}
        branch, turn = journal.line.parent, min(turn, journal.line.parent_turn)
    return found


def _planned(operation: Operation, branch: str) -> Entry:
    return Entry(
        operation.op_id,
        operation.kind,
        "pending",
        operation.turn,
        operation.has_side_effects,
        call_digest(operation.kind, operation.request),
        branch,
        store_value(operation.request),
    )
