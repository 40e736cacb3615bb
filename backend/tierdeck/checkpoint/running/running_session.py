"""A session that saves itself while its agent runs, and goes on from what was saved.

    run = open_running(root, "run-41", every=5)
    back = run.resume()                          # None: it begins anew
    ...
    back = run.end_turn(TurnState(variables))    # something: an operator asked for another state; take it
    run.close(is_clean=True)

Nothing that fails in saving is raised into the agent: `troubles` has it. One process runs a session at a time, and
holds its lease while it does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType

from tierdeck.checkpoint.checkpoint import Checkpoint, Reason
from tierdeck.checkpoint.folder import Lease, Request, SessionFolder
from tierdeck.checkpoint.folder.marks import checked_label
from tierdeck.checkpoint.running.asked_restore import asked_restore, go_back_as_asked
from tierdeck.checkpoint.running.choose import choose
from tierdeck.checkpoint.running.desk import Desk
from tierdeck.checkpoint.running.question import CallRules
from tierdeck.checkpoint.running.restoring import Standing, stand_at, stand_at_path
from tierdeck.checkpoint.running.resumed import Resumed
from tierdeck.checkpoint.running.saves import SaveReport, Saves
from tierdeck.checkpoint.running.serve import serve_request
from tierdeck.checkpoint.running.spending import Spending
from tierdeck.checkpoint.running.stand import Stand
from tierdeck.checkpoint.running.troubles import Troubles, sentence
from tierdeck.checkpoint.running.turn_state import Place, TurnState, checkpoint_of
from tierdeck.errors import CheckpointError, ConflictError


class RunningSession:
    """One session of an agent, as its own process keeps it. Made by `open_running`.

    For one thread, except for its calls.

    Spec: SPEC-09.20
    """

    def __init__(
        self,
        folder: SessionFolder,
        lease: Lease,
        *,
        every: int,
        depth: int,
        takes_restores: bool,
        rules: CallRules,
        troubles: Troubles,
        after_save: Callable[[SessionFolder], None] | None,
        clock_ns: Callable[[], int],
    ) -> None:
        self._folder = folder
        self._lease = lease
        self._every = every
        self._takes_restores = takes_restores
        self._clock_ns = clock_ns
        self._pid = os.getpid()
        self._saves = Saves(folder, troubles, after_save)
        self._state: TurnState | None = None
        self._deferred: list[str | None] = []
        self._back: Resumed | None = None
        self.troubles = troubles
        self._stand = Stand(folder, rules, troubles, depth=depth, clock_ns=clock_ns)
        self._note_run(lease.begin_run)

    @property
    def place(self) -> Place:
        """Session, branch and turns done."""
        return self._stand.place

    @property
    def spending(self) -> Spending:
        """The account."""
        return self._stand.spending

    @property
    def folder(self) -> SessionFolder:
        """Where it is kept."""
        return self._folder

    @property
    def desk(self) -> Desk:
        """Where calls are brought. Raises ConflictError in a process that was forked from the agent's."""
        self._check_ours("run operation")
        return self._stand.desk

    def end_turn(self, state: TurnState, *, cost: float | None = None, tokens: int | None = None) -> Resumed | None:
        """A turn is over: save when it is time, and do what an operator has asked for.

        Args:
            state: the agent's own objects. They are read before this returns, and again when a checkpoint of this
                turn is made later: what they hold then is saved.
            cost, tokens: of this turn; None is unknown.

        Returns:
            The state to go on with, when an operator had the session go back; else None.

        Spec: SPEC-09.24
        """
        self._check_ours("end turn")
        turn = self._stand.end_turn(cost, tokens)
        self._state = state
        deferred, self._deferred = self._deferred, []
        for label in deferred:
            self._save_now("manual", label)
        if self._every and turn % self._every == 0 and not deferred:
            self._save_later("auto")
        serve_request(self._folder, self.troubles, self._act)
        back, self._back = self._back, None
        return back

    def checkpoint(self, label: str | None = None) -> SaveReport:
        """Save the agent's objects as they are now, as the state after the last turn.

        In the middle of a turn, which the first call in it begins, they are saved when that ends.

        Raises:
            InvalidValueError: the label is blank or longer than 200 characters.

        Spec: SPEC-09.25
        """
        self._check_ours("save checkpoint")
        checked_label(label)
        if self._state is None or not self._stand.desk.is_between_turns:
            self._deferred.append(label)
            return SaveReport(is_deferred=True)
        return self._save_now("manual", label)

    def resume(self, path: Path | None = None) -> Resumed | None:
        """Go on from a checkpoint: at the path, else as a request asks, else at HEAD, else the newest good one.

        Returns:
            None when the session has none: it begins anew, and calls it made before it was killed count.

        Raises:
            ConflictError: a turn or a call was made already.
            NotFoundError: no file is at the path.
            DamagedCheckpointError, NewerCheckpointError, CheckpointLimitError: the one at the path can't be
                read, or of all the session's not one can.
            CheckpointKeyError: the same, since it was sealed with another key or none. The session is as it was.

        Spec: SPEC-09.23
        """
        self._check_ours("resume")
        if self._stand.place.turn or not self._stand.desk.is_between_turns:
            raise ConflictError("resume: the session has begun already", hint="resume before the first turn")
        if path is not None:
            return self._take_up(stand_at_path(self._folder, path, clock_ns=self._clock_ns))
        serve_request(self._folder, self.troubles, self._act, only_rewinds=True)
        if self._back is not None:
            back, self._back = self._back, None
            return back
        chosen = choose(self._folder)
        if chosen is not None:
            return self._take_up(stand_at(self._folder, chosen))
        self._stand.take_up_calls()
        return None

    def flush(self) -> None:
        """Wait until what was handed over is written, or has failed."""
        self._saves.flush()

    def close(self, *, is_clean: bool) -> None:
        """Write what is left to write, and give the lease back.

        Args:
            is_clean: the agent has ended by itself: then its last turn is saved too, unless `every` is 0.
        """
        if os.getpid() != self._pid:
            return
        try:
            self._saves.flush()
            if is_clean and self._every and self._has_news:
                self._save_now("exit", None)
            self._tell_what_is_missing(is_clean=is_clean)
            if is_clean and self._lease.is_held:
                self._note_run(self._lease.end_run)
        finally:
            self._stand.desk.journal.close()
            self._state = None
            self._lease.release()

    def _tell_what_is_missing(self, *, is_clean: bool) -> None:
        """Say what the end of the session leaves unsaved, since it comes in the middle of a turn."""
        where = f"the session ended in the middle of turn {self._stand.place.turn + 1}"
        deferred, self._deferred = self._deferred, []
        for label in deferred:
            name = "a checkpoint" if label is None else f"checkpoint {label!r}"
            self.troubles.tell(f"save checkpoint: {name} was not made: {where}")
        last = self._saves.last
        saved = 0 if last is None or last.branch != self._stand.place.branch else last.turn
        is_cut = self._state is not None and not self._stand.desk.is_between_turns
        if is_clean and is_cut and self._every and saved < self._stand.place.turn:
            self.troubles.tell(f"save checkpoint: turn {self._stand.place.turn} is not saved: {where}")

    def _act(self, request: Request) -> str | None:
        """Do what was asked; gives the checkpoint's name."""
        if request.kind == "checkpoint":
            report = self._save_now("manual", request.label)
            if report.saved is None:
                raise CheckpointError(report.problem or "save checkpoint: it failed")
            return report.saved.path.name
        return self._go_back(request)

    def _go_back(self, request: Request) -> str:
        """Go back as it was asked, the present saved first; gives the checkpoint's name."""
        if self._state is not None and not self._takes_restores:
            raise ConflictError("restore checkpoint: this agent takes no restore while it runs", hint="fork it")
        self._saves.flush()
        asked, branch, now = asked_restore(self._folder, request), None, None
        if self._state is not None:
            branch, now = self._stand.place.branch, self._stand.spending
            report = self._save_now("pre-restore", None)
            if report.saved is None:
                raise CheckpointError(f"restore checkpoint: the present can't be saved first: {report.problem}")
        self._back = self._take_up(go_back_as_asked(self._folder, asked, branch=branch, now=now))
        return asked.file

    def _take_up(self, stands: Standing) -> Resumed:
        self._state = None
        return self._stand.move_to(stands)

    def _note_run(self, note: Callable[[], None]) -> None:
        try:
            note()
        except CheckpointError as e:
            self.troubles.tell(sentence(e))

    def _save_later(self, reason: Reason) -> None:
        self._saves.later(self._checkpoint(reason, None), self._source_text)

    def _save_now(self, reason: Reason, label: str | None) -> SaveReport:
        return self._saves.now(self._checkpoint(reason, label), self._source_text)

    def _checkpoint(self, reason: Reason, label: str | None) -> Checkpoint:
        return checkpoint_of(
            self._stand.place,
            self._state or TurnState({}),
            self._stand.spending,
            self._stand.desk.open_operations(),
            reason=reason,
            label=label,
            now_ns=self._clock_ns(),
        )

    @property
    def _has_news(self) -> bool:
        """Whether the state after the last turn is known, and not on disk."""
        if self._state is None or not self._stand.desk.is_between_turns:
            return False
        last = self._saves.last
        return last is None or (last.branch, last.turn) != (self._stand.place.branch, self._stand.place.turn)

    @property
    def _source_text(self) -> Mapping[CodeType, str] | None:
        return None if self._state is None else self._state.source_text

    def _check_ours(self, doing: str) -> None:
        if os.getpid() != self._pid or not self._lease.is_held:
            raise ConflictError(
                f"{doing}: this process does not hold session {self._folder.session_id[:80]}",
                hint="a forked child opens a session of its own",
            )
