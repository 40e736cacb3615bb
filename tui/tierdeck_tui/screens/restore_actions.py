"""Restoring from the console: the plan, then the deed, and for a running agent the wait for its answer.

Nothing is called done before it is: a rewind that an agent was asked for is `requested` until it has answered.
"""

from __future__ import annotations

import asyncio
from functools import partial

from textual import work

from tierdeck.checkpoint.folder import FoundCheckpoint, Listed, SessionInfo
from tierdeck.checkpoint.running import Asked, Forked, Rewound, fork, rewind
from tierdeck.errors import ConflictError, StoppedError, TierdeckError
from tierdeck_tui.reading.checkpoint_sessions import folder_of, root_of
from tierdeck_tui.reading.restore_offer import Offers, offers_as_they_stand, read_offers
from tierdeck_tui.reading.restore_plan import RestorePlan
from tierdeck_tui.screens.job import OnProgress, ShouldStop
from tierdeck_tui.screens.request_actions import RequestActionsScreen, Waiting
from tierdeck_tui.screens.restore import Restore, RestoreDialog
from tierdeck_tui.view.checkpoint.moved import what_moved
from tierdeck_tui.view.format import size
from tierdeck_tui.view.safe_text import safe

_Done = Forked | Rewound | Asked


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
        try:
            offers = await self.at_work("restore: checking the file", partial(self._offers, info, listed), _bytes)
            found = await self._confirmed_and_done(info, offers)
        except StoppedError:
            self.notify("stopped: nothing was changed")
        except TierdeckError as e:
            self.shell.show_error(e)
            self.reload()
        else:
            if found is not None:
                self._tell(info, *found)

    async def _confirmed_and_done(self, info: SessionInfo, offers: Offers) -> tuple[Restore, _Done] | None:
        """What was confirmed, and is done; None when it was cancelled. A plan that does not hold is shown anew."""
        wanted, why = None, ""
        while True:
            by, reveal = self.deck.operator(), self.is_revealed
            dialog = RestoreDialog(offers, by=by, reveal=reveal, again=wanted, why=why)
            wanted = await self.app.push_screen_wait(dialog)
            if wanted is None:
                return None
            try:
                do = partial(self._do, info, offers.found, wanted)
                return wanted, await self.at_work(wanted.offer.plan.mode, do, _bytes)
            except ConflictError as e:
                why = f"not done: {e.message}"
            offers = await asyncio.to_thread(offers_as_they_stand, offers.found)

    def _offers(self, info: SessionInfo, listed: Listed, tell: OnProgress, should_stop: ShouldStop) -> Offers:
        key = self.key()
        found = FoundCheckpoint(listed, folder_of(info, key))
        return read_offers(found, key=key, on_progress=tell, should_stop=should_stop)

    def _do(
        self, info: SessionInfo, found: FoundCheckpoint, wanted: Restore, tell: OnProgress, should_stop: ShouldStop
    ) -> _Done:
        plan, key = self._plan_as_confirmed(found, wanted), self.key()
        if plan.mode == "fork":
            return fork(
                root_of(self.deck.settings),
                plan.target.path,
                as_=wanted.new_session_id,
                decisions=wanted.decisions,
                key=key,
                on_progress=tell,
                should_stop=should_stop,
            )
        return rewind(
            folder_of(info, key),
            plan.target.file,
            by=self.deck.operator(),
            expected_generation=plan.generation,
            expected_file=None if plan.present is None else plan.present.file,
            expected_live=plan.is_live,
            decisions=wanted.decisions,
            on_progress=tell,
            should_stop=should_stop,
        )

    def _plan_as_confirmed(self, found: FoundCheckpoint, wanted: Restore) -> RestorePlan:
        """The plan as it is now, when who has confirmed the one that was shown has confirmed it; else raises."""
        now = offers_as_they_stand(found).by_mode.get(wanted.offer.plan.mode)
        moved = what_moved(wanted.offer, now, wanted.decisions)
        if now is None or not moved.is_as_said:
            raise ConflictError(f"{moved.words}: look at the plan as it is now")
        return now.plan

    def _tell(self, info: SessionInfo, wanted: Restore, done: _Done) -> None:
        turn = wanted.offer.plan.target.turn
        told = f"; {wanted.told}" if wanted.told else ""
        if isinstance(done, Asked):
            self.asked_for(Waiting(folder_of(info), done.request_id, f"back to turn {turn}"), told)
        elif isinstance(done, Forked):
            begins = f"session {safe(done.session_id)} begins at turn {turn}; the old one is as it was"
            self.done(f"applied: {begins}{told}")
        else:
            self.done(
                f"applied: HEAD is at turn {turn}, on the new branch {done.branch}; the later ones stay{told}"
            )


def _bytes(done: int, total: int) -> str:
    return f"{size(done)} of {size(total)}"
