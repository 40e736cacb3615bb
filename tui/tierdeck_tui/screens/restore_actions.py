"""Restoring from the console: the plan, then the deed, and for a running agent the wait for its answer.

Nothing is called done before it is: a rewind that an agent was asked for is `requested` until it has answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from textual import work

from tierdeck.checkpoint.folder import Answer, FoundCheckpoint, Listed, SessionFolder, SessionInfo
from tierdeck.checkpoint.folder.requests import read_request
from tierdeck.checkpoint.running.restore import Asked, Forked, Rewound, fork, rewind
from tierdeck.errors import ConflictError, TierdeckError
from tierdeck_tui.reading.checkpoint_sessions import folder_of, root_of
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.restore_plan import RestoreMode, RestorePlan, read_restore_plan
from tierdeck_tui.screens.checkpoint_actions import CheckpointActionsScreen
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.restore import MODES, Restore, RestoreDialog
from tierdeck_tui.view.checkpoint.request import answer_line, request_line
from tierdeck_tui.view.line import line, text_of
from tierdeck_tui.view.safe_text import safe


@dataclass(frozen=True, slots=True)
class Waiting:
    """A rewind that an agent was asked for and has not answered."""

    folder: SessionFolder
    request_id: str
    turn: int


class RestoreActionsScreen(CheckpointActionsScreen):
    """A screen from which sessions are restored. `waiting` is what was asked for here and is not answered."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.waiting: tuple[Waiting, ...] = ()

    def say(self) -> None:
        """Say again what there is to say."""
        raise NotImplementedError

    def action_restore_checkpoint(self) -> None:
        """Show what a restore would do, then do it once the turn was typed."""
        row = self.subject()
        if row is None:
            self.notify("a checkpoint is restored: go to one")
        else:
            self._restore(row.info, row.listed)

    def action_take_back(self) -> None:
        """Take back what the agent of this session was asked for, unless it is at it."""
        info = self.subject_session()
        if info is not None:
            self._take_back(info)

    def answered(self, waiting: Waiting, answer: Answer) -> None:
        """Say what became of a request, once."""
        self.waiting = tuple(each for each in self.waiting if each != waiting)
        told = f"rewind to turn {waiting.turn}: {text_of(answer_line(answer))}"
        self.notify(told, severity="information" if answer.state == "applied" else "error", timeout=20)
        self.reload()

    @work(group="change", description="restore a checkpoint")
    async def _restore(self, info: SessionInfo, listed: Listed) -> None:
        if self.is_busy():
            return
        self.show_job(line("restore: checking the file, and what would change…"))
        try:
            plans, why_not = await asyncio.to_thread(_plans, FoundCheckpoint(listed, folder_of(info)))
        except TierdeckError as e:
            self.shell.show_error(e)
            return
        finally:
            self.show_job(())
        wanted = await self.app.push_screen_wait(RestoreDialog(plans, why_not=why_not))
        if wanted is None:
            return
        self.show_job(line(f"{wanted.plan.mode}: at work…"))
        try:
            done = await asyncio.to_thread(self._do, info, wanted)
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            self._tell(folder_of(info), wanted, done)
        finally:
            self.show_job(())

    def _do(self, info: SessionInfo, wanted: Restore) -> Forked | Rewound | Asked:
        plan = wanted.plan
        if plan.mode == "fork":
            return fork(root_of(self.deck.settings), plan.target.path, as_=wanted.new_session_id)
        folder = folder_of(info)
        head = folder.head()
        if (0 if head is None else head.generation) != plan.generation:
            raise ConflictError(
                f"rewind session {info.session_id[:80]}: HEAD was switched since the plan was shown",
                hint="look at the session again",
            )
        return rewind(folder, plan.target.file, by=self.deck.operator())

    def _tell(self, folder: SessionFolder, wanted: Restore, done: Forked | Rewound | Asked) -> None:
        turn = wanted.plan.target.turn
        if isinstance(done, Asked):
            self.waiting = (*self.waiting, Waiting(folder, done.request_id, turn))
            self.notify(f"requested: the agent goes back to turn {turn} at its next turn, or says why not")
            self.reload()
        elif isinstance(done, Forked):
            self.done(f"applied: session {safe(done.session_id)} begins at turn {turn}; the old one is as it was")
        else:
            self.done(f"applied: HEAD is at turn {turn}, on the new branch {done.branch}; the later ones stay")

    @work(group="change", description="take a request back")
    async def _take_back(self, info: SessionInfo) -> None:
        folder = folder_of(info)
        try:
            request = await asyncio.to_thread(read_request, folder.path)
            if request is None:
                self.notify("nothing waits for the agent of this session")
                return
            text = text_of(request_line(request, self.deck.store.now_ms()))
            if await self.app.push_screen_wait(ConfirmDialog("Take back", text, confirm="Take back")) is not True:
                return
            is_back = await asyncio.to_thread(folder.take_back, request.request_id)
        except TierdeckError as e:
            self.shell.show_error(e)
            return
        if is_back:
            self.waiting = tuple(each for each in self.waiting if each.request_id != request.request_id)
            self.done("taken back: nothing was changed")
        else:
            self.notify("too late: the agent is at it, or it is over", severity="warning")
        self.say()


def _plans(found: FoundCheckpoint) -> tuple[Mapping[RestoreMode, RestorePlan], str]:
    """The plan of each way that can be gone, and why a rewind is none."""
    plans: dict[RestoreMode, RestorePlan] = {mode: read_restore_plan(found, mode) for mode in MODES}
    if plans["rewind"].present is None:
        return {"fork": plans["fork"]}, "The session stands at no checkpoint, so it can't go back: only a fork."
    return plans, ""
