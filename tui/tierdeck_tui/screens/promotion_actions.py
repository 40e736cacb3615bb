"""What an operator does on the Promotions screen only: approve, dismiss, sweep, undo a run, verify the log.

What takes longer than a moment runs in a thread, says how far it is, and stops at `esc`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from textual import work

from tierdeck.errors import StoppedError, TierdeckError
from tierdeck.promote.log.check import LogCheck, verify_log
from tierdeck.promote.moves.approve import approve
from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.holds import dismiss
from tierdeck.promote.moves.undo import undo_run
from tierdeck.promote.outlook.sweep import apply_sweep
from tierdeck.promote.outlook.sweep_plan import SweepPlan, plan_sweep
from tierdeck.promote.records import RunReport
from tierdeck.promote.rules import Rules
from tierdeck.store import Store, StoreKind
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.promotion_facts import configured_rules
from tierdeck_tui.reading.promotion_items import CandidateItem
from tierdeck_tui.reading.run_undo import RunUndo, read_run_undo
from tierdeck_tui.screens.choice import ChoiceDialog
from tierdeck_tui.screens.confirm import ConfirmDialog
from tierdeck_tui.screens.job_screen import JobScreen
from tierdeck_tui.screens.reason import ReasonDialog
from tierdeck_tui.screens.tier_actions import TierActionsScreen
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import line, text_of
from tierdeck_tui.view.promotion.move_preview_lines import sweep_plan_lines
from tierdeck_tui.view.promotion.run_line import report_words
from tierdeck_tui.view.promotion.run_undo_lines import run_undo_lines
from tierdeck_tui.view.promotion.verdict_lines import verdict_lines


class _Decide(Protocol):
    """What a person decides about candidates: `approve` or `dismiss`."""

    def __call__(
        self, store: Store, ids: Sequence[str], *, rules: Rules, actor: str, reason: str | None
    ) -> RunReport: ...


class PromotionActionsScreen(JobScreen, TierActionsScreen):
    """A screen with candidates, runs and the log. Subclasses say which rows are meant, and show what goes on."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        # The last change made here, where it was a run; forgotten once it was offered to be taken back.
        self._last_run: int | None = None

    def chosen_candidates(self) -> tuple[CandidateItem, ...]:
        """The candidates that an action takes: the marked ones, else the one under the cursor."""
        raise NotImplementedError

    def action_approve(self) -> None:
        """Move candidates as the rules say, in the operator's name."""
        self._approve(self.chosen_candidates())

    def action_dismiss_candidate(self) -> None:
        """Leave candidates until there is new evidence."""
        self._dismiss_candidates(self.chosen_candidates())

    def action_sweep(self) -> None:
        """Show what the rules would move now; apply it when asked to, which a read-only store is not."""
        if self._is_tracked():
            self._sweep()

    def action_verify_log(self) -> None:
        """Check the chain of the log."""
        if self._is_tracked():
            self._verify()

    @work(group="change", description="change memories")
    async def _approve(self, items: Sequence[CandidateItem]) -> None:
        if not items:
            self.notify("approve takes candidates; p moves any memory")
            return
        await self._decide(items, "Approve", self._listed(items), approve, "approved")

    @work(group="change", description="change memories")
    async def _dismiss_candidates(self, items: Sequence[CandidateItem]) -> None:
        if not items:
            self.notify("dismiss takes candidates")
            return
        text = f"{self._listed(items)}\n\nThey wait no more until they are used or moved again."
        await self._decide(items, "Dismiss", text, dismiss, "dismissed")

    async def _decide(self, items: Sequence[CandidateItem], verb: str, text: str, do: _Decide, done: str) -> None:
        """Ask for the reason, which may be empty, and do it with these candidates."""
        title = f"{verb} {counted(len(items), 'memory', 'memories')}"
        reason = await self.app.push_screen_wait(ReasonDialog(title, text, confirm=verb, is_mandatory=False))
        if reason is None:
            return
        ids, rules, actor = [item.key for item in items], configured_rules(self.deck), self.deck.operator()
        try:
            report = await asyncio.to_thread(
                do, self.deck.store, ids, rules=rules, actor=actor, reason=reason or None
            )
            await self.tell_done(report, done)
        except TierdeckError as e:
            self.shell.show_error(e)

    @work(group="change", description="sweep")
    async def _sweep(self) -> None:
        if self.is_busy():
            return
        store, rules, actor = self.deck.store, configured_rules(self.deck), self.deck.operator()
        self.show_job(line("sweep: looking at what is due…"))
        try:
            plan = await asyncio.to_thread(lambda: plan_sweep(store, rules, store.now_ms()))
            self.show_job(())
            if not await self._confirm_sweep(plan):
                return
            report = await self.at_work(
                "sweep",
                lambda tell, stop: apply_sweep(
                    store, plan, rules=rules, actor=actor, confirmed=True, pace=Pace(tell, stop)
                ),
                _counted,
            )
        except TierdeckError as e:
            self.show_job(())
            self.shell.show_error(e)
        else:
            self._tell_run(report, "sweep: moved", can_undo=True)

    async def _confirm_sweep(self, plan: SweepPlan) -> bool:
        # Why it has to be confirmed comes first, where nobody has to scroll for it.
        told = replace(plan, needs_confirmation=None)
        text = "\n".join(text_of(one) for one in sweep_plan_lines(told, self.dialog_cells, limit_rows=3))
        if plan.needs_confirmation is not None:
            text = f"To be confirmed: {plan.needs_confirmation}.\n\n{text}"
        if not plan.due_rows:
            await self.app.push_screen_wait(ChoiceDialog("Sweep: nothing is due", text, []))
            return False
        title = f"Sweep: {counted(plan.due_rows, 'memory', 'memories')} would move"
        if self.shell.is_read_only:
            text = f"Not to be applied: {self.shell.read_only_reason}.\n\n{text}"
            await self.app.push_screen_wait(ChoiceDialog(title, text, []))
            return False
        return await self.app.push_screen_wait(ConfirmDialog(title, text, confirm="Apply")) is True

    @work(group="change", description="undo a run")
    async def undo_a_run(self, run_id: int, *, is_elsewhere: bool = False) -> None:
        """Take back what a run did, as far as that still stands; of an undo it is a redo.

        Args:
            is_elsewhere: it is the last change made here, and not what the cursor stands on.
        """
        if self.is_busy():
            return
        store, actor = self.deck.store, self.deck.operator()
        try:
            preview = await asyncio.to_thread(read_run_undo, store, run_id)
            if not await self._confirm_undo_of_run(preview, is_elsewhere=is_elsewhere):
                return
            report = await self.at_work(
                f"undo run {run_id}",
                lambda tell, stop: undo_run(store, run_id, actor=actor, pace=Pace(tell, stop)),
                _counted,
            )
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            self._tell_run(report, "did again" if preview.is_redo else "took back")

    async def _confirm_undo_of_run(self, preview: RunUndo, *, is_elsewhere: bool) -> bool:
        text = "\n".join(text_of(one) for one in run_undo_lines(preview, self.dialog_cells))
        title = f"{'Redo: take back' if preview.is_redo else 'Undo'} run {preview.run_id}"
        if not preview.standing:
            await self.app.push_screen_wait(ChoiceDialog(title, text, []))
            return False
        if is_elsewhere:
            text += "\n\nIt is the last change made here. After Cancel, undo means the row you look at."
        return await self.app.push_screen_wait(ConfirmDialog(title, text, confirm="Take back")) is True

    @work(group="change", description="verify the log")
    async def _verify(self) -> None:
        if self.is_busy():
            return
        store = self.deck.store
        try:
            found = await self.at_work(
                "verify", lambda tell, stop: verify_log(store, on_progress=tell, should_stop=stop), _counted
            )
        except StoppedError:
            self.notify("the log was not verified: stopped")
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            self._tell_check(found)

    def _tell_check(self, found: LogCheck) -> None:
        if found.problem is None:
            self.notify(f"the log is whole: {counted(found.rows, 'row')}, each fits the one before")
        else:
            where = f" (first at row {found.first_bad})" if found.first_bad is not None else ""
            self.notify(f"the log is not whole: {found.problem}{where}", severity="error", timeout=20)

    async def tell_done(self, report: RunReport, done: str) -> None:
        """Say what came of an action; what moved several is offered to be taken back as the run it was."""
        if report.run_id is None or len(report.moved) < 2:
            self._last_run = None
            await super().tell_done(report, done)
        else:
            self._tell_run(report, done, can_undo=True)

    async def changed_here(self, ids: Sequence[str], message: str) -> None:
        """Say what was done, and remember it for `u` in place of a run."""
        self._last_run = None
        await super().changed_here(ids, message)

    def _tell_run(self, report: RunReport, done: str, *, can_undo: bool = False) -> None:
        self._last_change, self._last_run = {}, report.run_id if can_undo and report.moved else None
        self.report(report, done)
        also = "; u takes it back" if self._last_run is not None else ""
        self.done(report_words(report, done) + also)

    def _is_tracked(self) -> bool:
        """Whether there is anything to look at; says so where another program's store was not adopted."""
        is_foreign = self.deck.store.kind is StoreKind.FOREIGN
        if is_foreign:
            self.notify(self.shell.read_only_reason, severity="warning")
        return not is_foreign

    def _listed(self, items: Sequence[CandidateItem]) -> str:
        lines = verdict_lines([item.candidate for item in items], self.dialog_cells)
        return "\n".join(text_of(one) for one in lines)


def _counted(done: int, total: int) -> str:
    return f"{count(done)} of {count(total)}"
