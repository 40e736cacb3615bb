"""What an operator does about a memory's tier: override it, hold it, let it go, look at what happened to it.

Each shows first what it would do; nothing is written before its dialog's own button was pressed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from textual import work

from tierdeck.errors import TierdeckError
from tierdeck.model import NodeRow, Tier
from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.promote.moves.holds import hold, holds, release
from tierdeck.promote.moves.override import OverridePreview, override_tier, preview_override
from tierdeck.promote.records import Hold, RunReport
from tierdeck.store.rows import read_rows
from tierdeck_tui.messages import LogWanted
from tierdeck_tui.reading.promotion_facts import configured_rules
from tierdeck_tui.screens.hold import HoldDialog
from tierdeck_tui.screens.memory_actions import MemoryActionsScreen
from tierdeck_tui.screens.override import Override, OverrideDialog
from tierdeck_tui.screens.reason import ReasonDialog
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.line import text_of
from tierdeck_tui.view.promotion.hold_line import hold_words
from tierdeck_tui.view.promotion.move_preview_lines import override_preview_lines
from tierdeck_tui.view.promotion.run_line import refused_line, report_words
from tierdeck_tui.view.safe_text import safe
from tierdeck_tui.view.sanitise import cut

MAX_DIALOG_CELLS = 62
_MAX_SHOWN = 6
_ORDER = tuple(Tier)


@dataclass(frozen=True, slots=True)
class _Ask:
    """What an override would do, by target and by whether held ones are moved too; the memories' heads."""

    previews: Mapping[tuple[Tier, bool], OverridePreview]
    rows: Mapping[str, NodeRow]
    cells: int

    def text(self, to_tier: Tier, with_held: bool) -> str:
        preview = self.previews[to_tier, with_held]
        lines = override_preview_lines(preview, self.rows, self.cells, limit_rows=_MAX_SHOWN)
        return "\n".join(text_of(one) for one in lines)


class TierActionsScreen(MemoryActionsScreen):
    """A screen from which memories are moved and held by hand."""

    def action_override(self) -> None:
        """Move memories to any tier, with a reason."""
        self._override(self.chosen_ids())

    def action_hold(self) -> None:
        """Hold memories where they are; release them when all are held."""
        self._hold(self.chosen_ids())

    def action_log(self) -> None:
        """What happened to the memory that is looked at."""
        node_id = self.subject_id()
        if node_id is not None:
            self.post_message(LogWanted(node_id))

    @property
    def dialog_cells(self) -> int:
        """How wide a line of a dialog's text may be, its scrollbar left out."""
        return min(MAX_DIALOG_CELLS, self.app.size.width * 96 // 100 - 6)

    def report(self, report: RunReport, done: str) -> None:
        """Say what was refused, and why."""
        if report.refused:
            lines = [text_of(refused_line(one)) for one in report.refused[:_MAX_SHOWN]]
            self.notify("\n".join([report_words(report, done), *lines]), severity="warning", timeout=10)

    async def tell_done(self, report: RunReport, done: str) -> None:
        """Say what came of an action, and show it."""
        self.report(report, done)
        if report.moved:
            await self.changed_here(report.moved, f"{done} {counted(len(report.moved), 'memory', 'memories')}")
        elif not report.refused:
            self.notify("nothing was to do")

    async def memory_lines(self, ids: Sequence[str]) -> str:
        """A line for each memory, for a dialog: its id and how its text begins."""
        rows = await asyncio.to_thread(self._rows, ids[:_MAX_SHOWN])
        lines = [cut(f"{safe(row.short_id)}  {safe(row.excerpt)}", self.dialog_cells) for row in rows.values()]
        if len(ids) > _MAX_SHOWN:
            lines.append(f"and {counted(len(ids) - _MAX_SHOWN, 'more', 'more')}")
        return "\n".join(lines)

    @work(group="change", description="change memories")
    async def _override(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        try:
            ask = await asyncio.to_thread(self._previews, ids)
            dialog = OverrideDialog(
                f"Override {counted(len(ids), 'memory', 'memories')}",
                ask.text,
                to_tier=_first_target(ask.previews[Tier.LONGTERM, False], ask.rows),
                asks_held=len(ids) > 1 and any(preview.held for preview in ask.previews.values()),
            )
            wanted = await self.app.push_screen_wait(dialog)
            if wanted is None:
                return
            preview = ask.previews[wanted.to_tier, wanted.with_held]
            if not preview.moves:
                self.notify(f"nothing was to move to {wanted.to_tier.value}")
                return
            # All ids, as in the preview: a held memory that was named alone would be moved.
            report = await asyncio.to_thread(self._do_override, ids, wanted, preview.seen)
            refused = tuple(one for one in report.refused if one.node_id not in preview.unchanged)
        except TierdeckError as e:
            self.shell.show_error(e)
        else:
            await self.tell_done(replace(report, refused=refused), f"moved to {wanted.to_tier.value}:")

    def _previews(self, ids: Sequence[str]) -> _Ask:
        store, rules = self.deck.store, configured_rules(self.deck)
        return _Ask(
            {
                (tier, with_held): preview_override(store, ids, tier, rules=rules, with_held=with_held)
                for tier in Tier
                for with_held in (False, True)
            },
            self._rows(ids),
            self.dialog_cells,
        )

    def _do_override(self, ids: Sequence[str], wanted: Override, seen: Mapping[str, str | None]) -> RunReport:
        return override_tier(
            self.deck.store,
            ids,
            wanted.to_tier,
            actor=self.deck.operator(),
            reason=wanted.reason,
            hold=wanted.is_held_there,
            with_held=wanted.with_held,
            seen=seen,
            rules=configured_rules(self.deck),
        )

    def _rows(self, ids: Sequence[str]) -> dict[str, NodeRow]:
        return self.deck.store.read(lambda conn: read_rows(conn, ids))

    @work(group="change", description="change memories")
    async def _hold(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        try:
            held = await asyncio.to_thread(self._held, ids)
            free = [node_id for node_id in ids if node_id not in held]
            if free:
                report = await self._ask_hold(free)
            else:
                report = await self._ask_release(ids, held)
            if report is not None:
                await self.tell_done(report, "held" if free else "released")
        except TierdeckError as e:
            self.shell.show_error(e)

    def _held(self, ids: Sequence[str]) -> dict[str, Hold]:
        check_tracked(self.deck.store)
        found = holds(self.deck.store, ids=ids, now_ms=self.deck.store.now_ms())
        return {each.node_id: each for each in found}

    async def _ask_hold(self, ids: Sequence[str]) -> RunReport | None:
        text = f"{await self.memory_lines(ids)}\n\nNo rule moves what is held; an override still can."
        title = f"Hold {counted(len(ids), 'memory', 'memories')}"
        answer = await self.app.push_screen_wait(HoldDialog(title, text, now_ms=self.deck.store.now_ms()))
        if answer is None:
            return None
        actor = self.deck.operator()
        return await asyncio.to_thread(
            lambda: hold(self.deck.store, ids, actor=actor, reason=answer.reason, until_ms=answer.until_ms)
        )

    async def _ask_release(self, ids: Sequence[str], held: Mapping[str, Hold]) -> RunReport | None:
        lines = [f"{safe(node_id)[:8]}  {hold_words(held[node_id])}" for node_id in ids[:_MAX_SHOWN]]
        title = f"Release {counted(len(ids), 'memory', 'memories')}"
        text = "\n".join([*lines, "", "The rules may move them again."])
        reason = await self.app.push_screen_wait(ReasonDialog(title, text, confirm="Release", is_mandatory=False))
        if reason is None:
            return None
        actor = self.deck.operator()
        return await asyncio.to_thread(lambda: release(self.deck.store, ids, actor=actor, reason=reason or None))


def _first_target(preview: OverridePreview, rows: Mapping[str, NodeRow]) -> Tier:
    """Where the dialog begins: where the rules would move the first one, else the tier behind its own."""
    for move in preview.moves:
        if move.decision.to_tier is not None:
            return move.decision.to_tier
    tiers = [row.tier for row in rows.values()]
    return _ORDER[(_ORDER.index(tiers[0]) + 1) % len(_ORDER)] if tiers else Tier.LONGTERM
