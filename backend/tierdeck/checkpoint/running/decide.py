"""What an operator says about calls of unknown outcome while no agent runs; nothing is run by it."""

from __future__ import annotations

from tierdeck.checkpoint.file.load import read_operations
from tierdeck.checkpoint.file.reading import open_checkpoint
from tierdeck.checkpoint.folder import Listed, SessionFolder
from tierdeck.checkpoint.journal import Decision, Entry, Journal
from tierdeck.checkpoint.running.decisions import check_decisions
from tierdeck.checkpoint.running.desk import Desk
from tierdeck.checkpoint.running.question import CallRules, OpenOperation, Question
from tierdeck.checkpoint.running.restoring import lacks, newest_journal
from tierdeck.checkpoint.running.troubles import Troubles
from tierdeck.checkpoint.running.undecided import start_at
from tierdeck.errors import ConflictError


def operations_of(folder: SessionFolder) -> tuple[Entry, ...]:
    """The calls of the branch that a session stands on, in the order they were written down; nothing is changed.

    Raises:
        DamagedCheckpointError, NewerCheckpointError, CheckpointError: folder or journal can't be read.
    """
    journal, _ = _stands_on(folder)
    return () if journal is None else journal.operations()


def open_operations_of(folder: SessionFolder) -> tuple[OpenOperation, ...]:
    """The calls that can be decided about as the session stands; nothing is changed. Raises as `operations_of`.

    By `decide`; where the branch's journal is lost, with a restore of the checkpoint that the session stands at.
    """
    journal, listed = _stands_on(folder)
    if journal is None:
        return ()
    if listed is not None and _is_lost(journal, listed, folder):
        return start_at(listed.path, folder).operations
    return _to_decide(journal, listed)


def questions_of(folder: SessionFolder) -> tuple[Question, ...]:
    """What the agent will ask when it goes on, as far as it is known now; nothing is changed.

    While an agent runs it is what would be asked, were it killed now. Raises as `operations_of`.
    """
    return tuple(each.question for each in open_operations_of(folder) if each.question is not None)


def decide(folder: SessionFolder, op_id: str, decision: Decision) -> None:
    """Say what is to be done about a call when the agent comes to it; nothing is run by it.

    Raises:
        InvalidValueError: the decision is none, or its value can't be kept.
        ConflictError: an agent runs the session, the journal of its branch is lost, or the call is in another
            state than when it was seen.
        NotFoundError: of the branch that the session stands on no such call can be decided about. Nothing was
            written in each case.
        CheckpointError: the journal can't be read or written.

    Spec: SPEC-09.23
    """
    doing = f"decide operation {op_id[:40]}"
    lease = folder.try_lease()
    if lease is None:
        raise ConflictError(
            f"{doing}: an agent runs session {folder.session_id[:80]}",
            hint="it asks where it runs; or go back with `tierdeck checkpoint restore --rewind --operation`",
        )
    with lease:
        journal, listed = _stands_on(folder)
        if journal is not None and listed is not None and _is_lost(journal, listed, folder):
            raise ConflictError(
                f"{doing}: the journal of branch {journal.branch} is lost, and would not keep it",
                hint="decide with `tierdeck checkpoint restore --rewind --operation`",
            )
        found = () if journal is None else _to_decide(journal, listed)
        check_decisions({op_id: decision}, found, f"decide about session {folder.session_id[:80]}")
        if journal is not None:
            try:
                journal.decide(op_id, decision)
            finally:
                journal.close()


def _to_decide(journal: Journal, listed: Listed | None) -> tuple[OpenOperation, ...]:
    turn = 0 if listed is None else listed.turn
    return Desk(journal, CallRules(), Troubles(), turn=turn + 1).to_decide()


def _is_lost(journal: Journal, listed: Listed, folder: SessionFolder) -> bool:
    """Whether the journal does not have what the checkpoint had not finished: going on begins a new one."""
    if listed.summary is None or not any(listed.summary.pending.values()):
        return False
    with open_checkpoint(listed.path, limits=folder.limits) as file:
        return lacks(journal, read_operations(file))


def _stands_on(folder: SessionFolder) -> tuple[Journal | None, Listed | None]:
    """The journal of the branch that a session stands on, and its newest checkpoint there."""
    head = folder.head()
    if head is None:
        return newest_journal(folder), None
    return Journal(folder.path, head.branch), folder.listed_one(head.file)
