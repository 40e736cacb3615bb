"""What an operator clears away of a session: by retention into the trash, back from there, or for good."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from textual import work

from tierdeck.checkpoint.folder import (
    Emptied,
    PrunePlan,
    PruneReport,
    SessionFolder,
    SessionInfo,
    Trashed,
    empty_trash,
    list_trash,
    plan_prune,
    policy_of,
    prune,
    restore_from_trash,
)
from tierdeck.errors import ConflictError, NotFoundError, StoppedError, TierdeckError
from tierdeck.times import now_ms
from tierdeck_tui.reading.checkpoint_sessions import folder_of
from tierdeck_tui.reading.console import Console
from tierdeck_tui.screens.checkpoint_actions import CheckpointActionsScreen
from tierdeck_tui.screens.choice import ChoiceDialog
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.job import OnProgress, ShouldStop
from tierdeck_tui.screens.trash import TrashDialog
from tierdeck_tui.view.checkpoint.prune import prune_lines, prune_words, trashed_line
from tierdeck_tui.view.format import count, counted, size
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.safe_text import safe

_MAX_SHOWN = 6


class ClearingActionsScreen(CheckpointActionsScreen):
    """A screen on which checkpoints are cleared away and put back."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._pruned: tuple[SessionInfo, tuple[str, ...]] | None = None

    def action_prune_session(self) -> None:
        """Show what retention would move to the trash, then do it."""
        info = self.subject_session()
        if info is not None:
            self._prune(info)

    @work(group="change", description="clear checkpoints away")
    async def _prune(self, info: SessionInfo) -> None:
        if self.is_busy():
            return
        try:
            plan = await self.at_work("prune: what is protected", partial(self._planned, info), _sessions)
            if not await self._confirm_prune(info, plan):
                return
            report = await self.at_work("prune", partial(self._pruned_by, info, plan), _of)
        except StoppedError:
            self.notify("stopped: nothing was cleared away")
        except TierdeckError as e:
            self.shell.show_error(e)
            self.reload()
        else:
            self._tell_pruned(info, report)

    def _planned(self, info: SessionInfo, tell: OnProgress, should_stop: ShouldStop) -> PrunePlan:
        policy = policy_of(self.deck.settings.checkpoints)
        return plan_prune(folder_of(info, self.key()), policy, on_progress=tell, should_stop=should_stop)

    def _pruned_by(
        self, info: SessionInfo, plan: PrunePlan, tell: OnProgress, should_stop: ShouldStop
    ) -> PruneReport:
        return prune(folder_of(info, self.key()), plan, on_progress=tell, should_stop=should_stop)

    def _tell_pruned(self, info: SessionInfo, report: PruneReport) -> None:
        self._pruned = (info, report.moved) if report.moved else None
        for each in report.passed_over[:_MAX_SHOWN]:
            self.notify(f"kept {each.file}: {each.why}", severity="warning")
        moved = f"moved {counted(len(report.moved), 'checkpoint')}, {size(report.moved_bytes)}, to the trash"
        gone = len(report.emptied.files)
        removed = f"; {counted(gone, 'older one')} in the trash removed for good" if gone else ""
        stopped = "stopped: " if report.is_stopped else ""
        self.done(f"{stopped}{moved}{removed}" + ("; u puts them back" if report.moved else ""))

    async def _confirm_prune(self, info: SessionInfo, plan: PrunePlan) -> bool:
        text = "\n".join(text_of(one).rstrip() for one in prune_lines(plan, now_ms(), self.dialog_cells))
        if not plan.delete:
            title = f"Prune {safe(info.session_id)}: nothing to clear away"
            await self.app.push_screen_wait(ChoiceDialog(title, text, []))
            return False
        dialog = ConfirmDialog(f"Prune: {prune_words(plan)}", text, confirm="Move to trash")
        return await self.app.push_screen_wait(dialog) is True

    # The way back.

    def action_put_back(self) -> None:
        """Put back what the last prune here moved to the trash."""
        if self._pruned is None:
            self.notify("nothing was cleared away here; x opens the session's trash")
        else:
            self._put_back(*self._pruned)

    @work(group="change", description="put checkpoints back")
    async def _put_back(self, info: SessionInfo, files: Sequence[str]) -> None:
        if self.is_busy():
            return
        text = f"{counted(len(files), 'checkpoint')} of {safe(info.session_id)} come back from the trash."
        if await self.app.push_screen_wait(ConfirmDialog("Put back", text, confirm="Put back")) is True:
            await self._put_back_now(info, files)
            self._pruned = None

    async def _put_back_now(self, info: SessionInfo, files: Sequence[str]) -> None:
        try:
            back = await self.at_work("put back", partial(_put_back_all, folder_of(info), files), _of)
        except StoppedError:
            self.done("putting back was stopped; the others are still in the trash")
        except TierdeckError as e:
            self.shell.show_error(e)
            self.reload()
        else:
            self.done(f"put {counted(back, 'checkpoint')} back")

    # The trash.

    def action_open_trash(self) -> None:
        """List what lies in the session's trash, put some of it back, or empty it."""
        info = self.subject_session()
        if info is not None:
            self._trash(info)

    @work(group="change", description="look into the trash")
    async def _trash(self, info: SessionInfo) -> None:
        if self.is_busy():
            return
        folder = folder_of(info)
        try:
            trashed = await asyncio.to_thread(list_trash, folder)
        except TierdeckError as e:
            self.shell.show_error(e)
            return
        can_change = not self.shell.is_read_only
        wanted = await self.app.push_screen_wait(TrashDialog(info.session_id, trashed, can_change=can_change))
        if wanted is None:
            return
        if wanted.files:
            await self._put_back_now(info, wanted.files)
        elif await self._confirm_empty(info, trashed):
            await self._empty_now(folder, len(trashed))

    async def _confirm_empty(self, info: SessionInfo, trashed: Sequence[Trashed]) -> bool:
        what = f"{counted(len(trashed), 'checkpoint')}, {size(sum(each.size_bytes for each in trashed))}"
        lines = [f"{what} of {safe(info.session_id)} are removed for good. There is no way back."]
        lines += [text_of(trashed_line(each, now_ms(), self.dialog_cells)).rstrip() for each in trashed]
        dialog = ConfirmDialog("Empty the trash", "\n".join(lines), confirm="Remove for good")
        return await self.app.push_screen_wait(dialog) is True

    async def _empty_now(self, folder: SessionFolder, shown: int) -> None:
        try:
            gone = await asyncio.to_thread(_emptied, folder, shown)
        except TierdeckError as e:
            self.shell.show_error(e)
            self.reload()
        else:
            self._pruned = None
            self.done(f"removed {counted(len(gone.files), 'checkpoint')}, {size(gone.size_bytes)}, for good")


def _of(done: int, total: int) -> str:
    return f"{count(done)} of {counted(total, 'checkpoint')}"


def _sessions(done: int, total: int) -> str:
    return f"{count(done)} of {counted(total, 'session')} asked what they began from"


def _emptied(folder: SessionFolder, shown: int) -> Emptied:
    """Empties it when it holds what was shown; more came meanwhile: nobody agreed to lose that."""
    found = len(list_trash(folder))
    if found > shown:
        raise ConflictError(
            f"empty the trash of session {folder.session_id[:80]}: it has {count(found)} checkpoints by now, "
            f"{count(shown)} were shown",
            hint="look at it again",
        )
    return empty_trash(folder, older_than_days=0)


def _put_back_all(folder: SessionFolder, files: Sequence[str], tell: OnProgress, should_stop: ShouldStop) -> int:
    """How many came back; one that is back already counts. Raises StoppedError; some may be back then."""
    for number, file in enumerate(files):
        tell(number, len(files))
        if should_stop():
            raise StoppedError("put checkpoints back: stopped")
        try:
            restore_from_trash(folder, file)
        except (ConflictError, NotFoundError):
            if folder.listed_one(file) is None:
                raise
    return len(files)
