"""How much waits, is near, was moved and is held: counted in workers, so that no list waits for its number."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from tierdeck.errors import TierdeckError
from tierdeck.promote.log.entries import count_entries
from tierdeck.promote.records import LogFilter
from tierdeck.store import StoreKind
from tierdeck_tui.messages import PromotionFailed, PromotionRead
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.promotion_facts import PromotionFacts, read_promotion_facts
from tierdeck_tui.screens.promotion_actions import PromotionActionsScreen
from tierdeck_tui.view.promotion.log_ask import LogAsk

# Between two counts while another program writes all along.
COUNT_PAUSE_S = 1.0


class PromotionNumbersScreen(PromotionActionsScreen):
    """A screen with these numbers. Subclasses say them.

    `facts` is None until they were read, and when `failure` says why they were not. `ask` is the log's filter, and
    `log_rows` how many rows it lets through. `is_foreign`: the store has none of it, and nothing is read.
    """

    @dataclass
    class LogCounted(Message):
        """How many rows the log's filter lets through; `ask` tells whether it is still wanted."""

        ask: LogAsk
        rows: int

    @dataclass
    class CountFailed(Message):
        """They could not be counted."""

        error: TierdeckError

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.ask = LogAsk()
        self.facts: PromotionFacts | None = None
        self.failure: TierdeckError | None = None
        self.log_rows: int | None = None
        # An expected state, told once and in plain words.
        self.is_foreign = console.store.kind is StoreKind.FOREIGN
        self._is_counting = False
        self._is_count_due = False

    def numbers_changed(self) -> None:
        """Say the numbers."""
        raise NotImplementedError

    def count(self) -> None:
        """Count what waits, once at a time: of a million memories it takes seconds, and others go on writing."""
        self._is_count_due = self._is_counting
        if not self._is_counting and not self.is_foreign:
            self._is_counting = True
            self._read_facts()

    def count_log(self) -> None:
        """Count the rows that the log's filter lets through."""
        self._count_log(self.ask, self.log_filter())

    def log_filter(self) -> LogFilter:
        """The log's filter as of now."""
        return self.ask.meaning(self.deck.store.now_ms())

    def _counted(self) -> None:
        self._is_counting = False
        if self._is_count_due:
            self.set_timer(COUNT_PAUSE_S, self.count)
        self.numbers_changed()

    @work(thread=True, group="promotion", description="count what waits")
    def _read_facts(self) -> None:
        worker = get_current_worker()
        try:
            told: Message = PromotionRead(read_promotion_facts(self.deck))
        except TierdeckError as e:
            told = PromotionFailed(e)
        if not worker.is_cancelled:
            self.post_message(told)

    @on(PromotionRead)
    def _show_facts(self, event: PromotionRead) -> None:
        self.facts, self.failure = event.facts, None
        if not self.ask.chips:
            self.log_rows = event.facts.log_rows
        self._counted()

    @on(PromotionFailed)
    def _show_failure(self, event: PromotionFailed) -> None:
        self.facts, self.failure = None, event.error
        self._counted()

    @work(thread=True, exclusive=True, group="log-count", description="count the log")
    def _count_log(self, ask: LogAsk, log_filter: LogFilter) -> None:
        worker = get_current_worker()
        try:
            told: Message = self.LogCounted(ask, count_entries(self.deck.store, log_filter))
        except TierdeckError as e:
            told = self.CountFailed(e)
        if not worker.is_cancelled:
            self.post_message(told)

    @on(CountFailed)
    def _count_failed(self, event: CountFailed) -> None:
        self.shell.show_error(event.error)  # the rows that are listed stand

    @on(LogCounted)
    def _log_counted(self, event: LogCounted) -> None:
        if event.ask == self.ask:  # else something else was asked since
            self.log_rows = event.rows
            self.numbers_changed()
