"""Restoring from the console: the plan, then the deed, and for a running agent the wait for its answer.

Nothing is called done before it is: a rewind that an agent was asked for is `requested` until it has answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from textual import work

from tierdeck.checkpoint.folder import FoundCheckpoint, Listed, SessionInfo
from tierdeck.checkpoint.running import Asked, Forked, RestoreMode, Rewound, fork, rewind
from tierdeck.errors import StoppedError, TierdeckError
from tierdeck_tui.reading.checkpoint_sessions import folder_of, root_of
from tierdeck_tui.reading.restore_offer import RestoreOffer, read_offers
from tierdeck_tui.screens.job import OnProgress, ShouldStop
from tierdeck_tui.screens.request_actions import RequestActionsScreen, Waiting
from tierdeck_tui.screens.restore import Restore, RestoreDialog
from tierdeck_tui.view.format import size
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
        try:
            offers = await self.at_work("restore: checking the file", partial(self._offers, info, listed), _bytes)
            dialog = RestoreDialog(offers, by=self.deck.operator(), reveal=self.is_revealed)
            wanted = await self.app.push_screen_wait(dialog)
            if wanted is None:
                return
            done = await self.at_work(wanted.plan.mode, partial(self._do, info, wanted), _bytes)
        except StoppedError:
            self.notify("stopped: nothing was changed")
        except TierdeckError as e:
            self.shell.show_error(e)
            self.reload()
        else:
            self._tell(info, wanted, done)

    def _offers(
        self, info: SessionInfo, listed: Listed, tell: OnProgress, should_stop: ShouldStop
    ) -> Mapping[RestoreMode, RestoreOffer]:
        key = self.key()
        found = FoundCheckpoint(listed, folder_of(info, key))
        return read_offers(found, key=key, on_progress=tell, should_stop=should_stop)

    def _do(
        self, info: SessionInfo, wanted: Restore, tell: OnProgress, should_stop: ShouldStop
    ) -> Forked | Rewound | Asked:
        plan, key = wanted.plan, self.key()
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
            decisions=wanted.decisions,
            on_progress=tell,
            should_stop=should_stop,
        )

    def _tell(self, info: SessionInfo, wanted: Restore, done: Forked | Rewound | Asked) -> None:
        turn = wanted.plan.target.turn
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
