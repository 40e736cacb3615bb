"""Restoring from the console: the plan, then the deed, and for a running agent the wait for its answer.

Nothing is called done before it is: a rewind that an agent was asked for is `requested` until it has answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from textual import work

from tierdeck.checkpoint.folder import FoundCheckpoint, Listed, SessionFolder, SessionInfo
from tierdeck.checkpoint.running.restore import Asked, Forked, Rewound, fork, rewind
from tierdeck.errors import ConflictError, TierdeckError
from tierdeck_tui.reading.checkpoint_sessions import folder_of, root_of
from tierdeck_tui.reading.restore_plan import RestoreMode, RestorePlan, read_restore_plan
from tierdeck_tui.screens.request_actions import RequestActionsScreen, Waiting
from tierdeck_tui.screens.restore import MODES, Restore, RestoreDialog
from tierdeck_tui.view.line import line
from tierdeck_tui.view.safe_text import safe


class RestoreActionsScreen(RequestActionsScreen):
    """A screen from which sessions are restored."""

    def action_restore_checkpoint(self) -> None:
        """Show what a restore would do, then do it once the turn was typed."""
        row = self.subject()
        if row is None:
            self.notify("a checkpoint is restored: go to one")
        else:
            self._restore(row.info, row.listed)

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
            self.asked_for(Waiting(folder, done.request_id, f"back to turn {turn}"))
        elif isinstance(done, Forked):
            self.done(f"applied: session {safe(done.session_id)} begins at turn {turn}; the old one is as it was")
        else:
            self.done(f"applied: HEAD is at turn {turn}, on the new branch {done.branch}; the later ones stay")


def _plans(found: FoundCheckpoint) -> tuple[Mapping[RestoreMode, RestorePlan], str]:
    """The plan of each way that can be gone, and why a rewind is none."""
    plans: dict[RestoreMode, RestorePlan] = {mode: read_restore_plan(found, mode) for mode in MODES}
    if plans["rewind"].present is None:
        return {"fork": plans["fork"]}, "The session stands at no checkpoint, so it can't go back: only a fork."
    return plans, ""
