"""The Overview: what the store holds and how it is doing, its lines lead to the other screens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from tierdeck.errors import StoppedError, TierdeckError
from tierdeck.times import now_ms
from tierdeck_tui.messages import (
    CheckpointsCounted,
    CheckpointsFailed,
    FactsFailed,
    FactsRead,
    VectorsCounted,
    VectorsFailed,
)
from tierdeck_tui.reading.checkpoint_facts import read_checkpoint_facts
from tierdeck_tui.reading.checkpoint_sessions import root_of
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.overview_facts import OverviewFacts, read_facts
from tierdeck_tui.screens.frame import FrameScreen
from tierdeck_tui.view import overview_lines
from tierdeck_tui.widgets.card import Card

if TYPE_CHECKING:
    from tierdeck.embed.coverage import Coverage


class OverviewScreen(FrameScreen):
    """Cards that are read in workers: the screen is painted before the store has answered."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-wide")]  # noqa: RUF012 - as Textual types it

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._deck = console
        self._facts: OverviewFacts | None = None
        self._coverage: Coverage | None = None
        self._vectors_error: TierdeckError | None = None

    def compose_body(self) -> Iterable[Widget]:
        """Two columns of cards, one below 72 columns."""
        with VerticalScroll(id="overview", can_focus=False):
            yield Card("By tier", id="tiers")
            yield Card("By type", id="types")
            yield Card("Waiting to move", id="promotion")
            yield Card("Last runs", id="runs")
            yield Card("Checkpoints", id="checkpoints")
            yield Card("Next", id="next")
            yield Card("Meaning", id="meaning")
            yield Card("Health", id="health")
            yield Card("Store", id="store")

    def on_mount(self) -> None:
        """Read."""
        self.reload()

    def reload(self) -> None:
        """Read everything again."""
        self._read()
        self._count_vectors()
        self._count_checkpoints()

    def on_screen_resume(self) -> None:
        """Count the checkpoints again: agents save while another screen is shown."""
        self._count_checkpoints()

    def meaning_changed(self) -> None:
        """Read again: the index has grown, or is known to be missing."""
        self.reload()

    @work(thread=True, exclusive=True, group="overview")
    def _read(self) -> None:
        worker = get_current_worker()
        try:
            told: Message = FactsRead(read_facts(self._deck))
        except TierdeckError as e:
            told = FactsFailed(e)
        if not worker.is_cancelled:
            self.post_message(told)

    @work(thread=True, exclusive=True, group="vectors")
    def _count_vectors(self) -> None:
        from tierdeck.embed.coverage import coverage  # brings in numpy, after the first paint

        worker = get_current_worker()
        settings = self._deck.settings.embedding
        try:
            told: Message = VectorsCounted(
                coverage(self._deck.store, settings, should_stop=lambda: worker.is_cancelled)
            )
        except StoppedError:
            return
        except TierdeckError as e:
            told = VectorsFailed(e)
        if not worker.is_cancelled:
            self.post_message(told)

    @work(thread=True, exclusive=True, group="checkpoints", description="count the checkpoints")
    def _count_checkpoints(self) -> None:
        worker = get_current_worker()
        try:
            root = root_of(self._deck.settings)
            told: Message = CheckpointsCounted(read_checkpoint_facts(root, lambda: worker.is_cancelled))
        except StoppedError:
            return
        except TierdeckError as e:
            told = CheckpointsFailed(e)
        if not worker.is_cancelled:
            self.post_message(told)

    @on(CheckpointsCounted)
    def _show_checkpoints(self, event: CheckpointsCounted) -> None:
        self._card("checkpoints").show(overview_lines.checkpoint_lines(event.facts, now_ms()))

    @on(CheckpointsFailed)
    def _show_checkpoints_error(self, event: CheckpointsFailed) -> None:
        self._card("checkpoints").show(overview_lines.error_lines(event.error))

    @on(FactsRead)
    def _show_facts(self, event: FactsRead) -> None:
        self._facts = event.facts
        self._card("tiers").show(overview_lines.tier_lines(event.facts))
        self._card("types").show(overview_lines.type_lines(event.facts))
        self._card("promotion").show(overview_lines.promotion_lines(event.facts))
        self._card("runs").show(overview_lines.run_lines(event.facts, now_ms()))
        self._card("store").show(overview_lines.store_lines(event.facts, now_ms()))
        self._card("health").show(overview_lines.health_lines(event.facts))
        self._show_meaning()

    @on(VectorsCounted)
    def _show_vectors(self, event: VectorsCounted) -> None:
        self._coverage = event.coverage
        self._vectors_error = None
        self._show_meaning()

    @on(VectorsFailed)
    def _show_vectors_error(self, event: VectorsFailed) -> None:
        self._coverage = None
        self._vectors_error = event.error
        self._show_meaning()

    @on(FactsFailed)
    def _show_error(self, event: FactsFailed) -> None:
        for name in ("tiers", "types", "promotion", "runs", "store", "health"):
            self._card(name).show(overview_lines.error_lines(event.error))

    def _show_meaning(self) -> None:
        meaning = self._deck.meaning_state()
        if self._vectors_error is not None:
            self._card("meaning").show(overview_lines.error_lines(self._vectors_error))
        else:
            self._card("meaning").show(overview_lines.meaning_lines(meaning, self._coverage))
        if self._facts is not None:
            embedder = self._deck.embedder()
            is_remote = embedder is not None and embedder.is_remote
            lines = overview_lines.next_lines(self._facts, meaning, self._coverage, is_remote=is_remote)
            self._card("next").show(lines)

    def _card(self, name: str) -> Card:
        return self.query_one(f"#{name}", Card)
