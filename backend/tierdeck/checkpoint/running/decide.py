"""What an operator says about calls of unknown outcome while no agent runs; nothing is run by it."""

from __future__ import annotations

from tierdeck.checkpoint.folder import SessionFolder
from tierdeck.checkpoint.journal import Choice, Decision, Entry, Journal, store_value
from tierdeck.checkpoint.running.desk import Desk
from tierdeck.checkpoint.running.question import CallRules, Question
from tierdeck.checkpoint.running.restoring import newest_journal
from tierdeck.checkpoint.running.troubles import Troubles
from tierdeck.errors import ConflictError, NotFoundError


def operations_of(folder: SessionFolder) -> tuple[Entry, ...]:
    """The calls of the branch that a session stands on, in the order they were written down; nothing is changed.

    Raises:
        DamagedCheckpointError, NewerCheckpointError, CheckpointError: folder or journal can't be read.
    """
    journal, _ = _stands_on(folder)
    return () if journal is None else journal.operations()


def questions_of(folder: SessionFolder) -> tuple[Question, ...]:
    """What the agent will ask when it goes on, as far as it is known now; nothing is changed.

    While an agent runs it is what would be asked, were it killed now. Raises as `operations_of`.
    """
    journal, turn = _stands_on(folder)
    return () if journal is None else Desk(journal, CallRules(), Troubles(), turn=turn + 1).questions()


def decide(
    folder: SessionFolder, op_id: str, choice: Choice, value: object = None, *, by: str | None = None
) -> None:
    """Say what is to be done about a call when the agent comes to it; see `Session.decide`.

    Raises:
        ConflictError: an agent runs the session; nothing was written.
        NotFoundError: the branch that the session stands on has no such call.
        CheckpointError: the journal can't be read or written.
    """
    lease = folder.try_lease()
    if lease is None:
        raise ConflictError(f"decide operation {op_id[:40]}: an agent runs session {folder.session_id[:80]}")
    with lease:
        journal, _ = _stands_on(folder)
        if journal is None:
            raise NotFoundError(f"decide operation {op_id[:40]}: its session has made no calls")
        try:
            stored = store_value(value) if choice == "done" and value is not None else None
            journal.decide(op_id, Decision(choice, stored, by))
        finally:
            journal.close()


def _stands_on(folder: SessionFolder) -> tuple[Journal | None, int]:
    """The journal of the branch that a session stands on, and the turns done there."""
    head = folder.head()
    if head is None:
        return newest_journal(folder), 0
    listed = folder.listed_one(head.file)
    return Journal(folder.path, head.branch), 0 if listed is None else listed.turn
