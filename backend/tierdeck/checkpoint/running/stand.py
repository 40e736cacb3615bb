"""Where a running session stands: its branch and turn, its account, and the calls of its branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tierdeck.checkpoint.folder import SessionFolder
from tierdeck.checkpoint.journal import BranchLine, Journal, TurnLine
from tierdeck.checkpoint.running.branch import new_branch
from tierdeck.checkpoint.running.desk import Desk
from tierdeck.checkpoint.running.question import CallRules
from tierdeck.checkpoint.running.restoring import Standing, known_at_least, last_unsaved_ns, newest_journal
from tierdeck.checkpoint.running.resumed import Resumed
from tierdeck.checkpoint.running.spending import Spending
from tierdeck.checkpoint.running.troubles import Troubles, sentence
from tierdeck.checkpoint.running.turn_state import Place
from tierdeck.errors import CheckpointError


class Stand:
    """It begins on a new branch; a turn's end moves it on, a restore moves it elsewhere."""

    def __init__(
        self,
        folder: SessionFolder,
        rules: CallRules,
        troubles: Troubles,
        *,
        depth: int,
        clock_ns: Callable[[], int],
    ) -> None:
        self._folder = folder
        self._rules = rules
        self._troubles = troubles
        self._clock_ns = clock_ns
        self._place = Place(folder.session_id, new_branch(), depth=depth)
        self._spending = Spending()
        self._desk = self._new_desk(None)

    @property
    def place(self) -> Place:
        """Session, branch and turns done."""
        return self._place

    @property
    def spending(self) -> Spending:
        """The account."""
        return self._spending

    @property
    def desk(self) -> Desk:
        """Where calls of the branch are brought."""
        return self._desk

    def end_turn(self, cost: float | None, tokens: int | None) -> int:
        """Count a turn and what it cost, and note both in the journal; gives its number.

        What can't be noted is told, and the session goes on.
        """
        turn = self._place.turn + 1
        is_paid = self._desk.has_only_replayed and self._desk.journal.turn(turn) is not None
        self._place = replace(self._place, turn=turn)
        self._spending = self._spending.after(cost, tokens, is_paid_already=is_paid)
        self._note_turn()
        self._desk.begin_turn(turn + 1)
        return turn

    def move_to(self, stands: Standing) -> Resumed:
        """Go on from where a restore led to."""
        found = stands.checkpoint
        self._desk.journal.close()
        self._place = Place(
            self._folder.session_id,
            stands.branch,
            found.turn,
            found.depth,
            found.checkpoint_id,
            found.origin,
            found.losses,
            found.unread,
        )
        self._spending = stands.spending
        self._desk = self._new_desk(stands.journal)
        for said in stands.problems:
            self._troubles.tell(said)
        return Resumed(
            found,
            stands.path,
            stands.branch,
            stands.spending,
            self._desk.questions(),
            stands.skipped,
            stands.problems,
        )

    def take_up_calls(self) -> None:
        """Go on with the calls of a session that was killed before its first checkpoint."""
        journal = newest_journal(self._folder)
        if journal is not None:
            self._desk.journal.close()
            self._place = replace(self._place, branch=journal.branch)
            self._spending = known_at_least(self._spending, journal)
            self._desk = self._new_desk(journal)

    def _new_desk(self, journal: Journal | None) -> Desk:
        place = self._place
        if journal is None:
            journal = Journal(
                self._folder.path,
                place.branch,
                line=BranchLine(place.session_id, place.branch),
                clock_ns=self._clock_ns,
                not_before_ns=last_unsaved_ns(self._folder) + 1,
            )
        return Desk(journal, self._rules, self._troubles, turn=place.turn + 1)

    def _note_turn(self) -> None:
        now = self._spending
        try:
            self._desk.journal.end_turn(
                TurnLine(self._place.turn, now.branch, now.session, now.branch_tokens, now.session_tokens, 0)
            )
        except CheckpointError as e:
            self._troubles.tell(sentence(e))
