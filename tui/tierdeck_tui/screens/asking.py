"""What stands in the query box is asked in a worker, and its answer is shown when it still is what is wanted."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on, work
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from tierdeck.errors import StoppedError, TierdeckError
from tierdeck.model import NodeFilter
from tierdeck.search import SearchAnswer, parse_query
from tierdeck.store import count_left_in_archive
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.memory_pages import MemoryPages
from tierdeck_tui.reading.search_run import SearchRequest, SearchRunner
from tierdeck_tui.screens.tier_actions import TierActionsScreen
from tierdeck_tui.view.line import Line
from tierdeck_tui.view.search_status import (
    answer_status,
    browse_status,
    chips_line,
    error_status,
    marked_piece,
    nothing_found,
    nothing_to_browse,
    searching_status,
)
from tierdeck_tui.widgets.alpha_bar import AlphaBar
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.memory_list import MemoryList
from tierdeck_tui.widgets.query_box import QueryBox
from tierdeck_tui.widgets.result_panes import ResultPanes

# Most answers are there before; from here on one would take the rows of the query before for those of this one.
SAY_AFTER_S = 0.4


class AskingScreen(TierActionsScreen):
    """A screen with a query box, a balance, one line for filters and one for what came of it, and the panes."""

    @dataclass
    class Answered(Message):
        """A search is done; `request.number` tells whether it is still wanted."""

        request: SearchRequest
        answer: SearchAnswer
        keep_cursor: bool

    @dataclass
    class Failed(Message):
        """A search could not be done."""

        request: SearchRequest
        error: TierdeckError

    @dataclass
    class ArchiveCounted(Message):
        """How many archived memories the list leaves out; `number` tells whether it is still wanted."""

        number: int
        rows: int

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._runner = SearchRunner(console)
        self._query = parse_query("")
        self._number = 0
        self._is_typing = False
        self._sent_words = ""
        self._answer: SearchAnswer | None = None
        self._is_oldest_first = False
        self._archived_rows = 0
        self._archive_request = 0
        self._status: Line = ()
        self._pause: Timer | None = None
        self._patience: Timer | None = None
        self._opening_memory = ""

    def _ask_soon(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(self.deck.settings.console.debounce_ms / 1000, self._ask)

    def _ask(self, *, keep_cursor: bool = False) -> None:
        """Ask what stands in the box; the old rows stay until the new ones come."""
        if self._pause is not None:
            self._pause.stop()
        self._number += 1
        if not keep_cursor:  # with it the rows that stay are of this query
            self._await_answer()
        self._query = query = parse_query(self._box.value)
        self.query_one("#chips", LineBar).show(chips_line(query.chips))
        if query.is_empty:
            self._answer = self._panes.answer = None
            self._alpha_bar.is_meaning_off = False
            self._browse(keep_cursor=keep_cursor)
            return
        if not self._is_typing:
            self._sent_words = query.words_text
        # What went out once may go out again: moving a filter behind the same words is not typing.
        is_typing = self._is_typing and query.words_text != self._sent_words
        self._run(SearchRequest(self._number, query, self._alpha_bar.alpha, is_typing), keep_cursor)

    def _await_answer(self) -> None:
        """Say that it is being looked for, unless something else can be said soon."""
        if self._patience is not None:
            self._patience.stop()
        self._patience = self.set_timer(SAY_AFTER_S, self._say_searching)

    def _say_searching(self) -> None:
        self._say(searching_status(has_old_rows=self._results.total_rows > 0))

    def _browse(self, *, keep_cursor: bool) -> None:
        if not keep_cursor:
            self._archived_rows = 0
        self._results.show_empty(nothing_to_browse(self._query.chips, self._archived_rows))
        pages = MemoryPages(self.deck.store, self._query.filter, self._is_oldest_first)
        self._results.show_pages(pages, keep_cursor=keep_cursor)

    @work(thread=True, exclusive=True, group="archive", description="count the archive")
    def _count_archived(self, number: int, node_filter: NodeFilter) -> None:
        worker = get_current_worker()
        try:
            rows = count_left_in_archive(self.deck.store, node_filter)
            message: Message = self.ArchiveCounted(number, rows)
        except TierdeckError as e:
            message = MemoryList.Failed(e)
        if not worker.is_cancelled:
            self.post_message(message)

    @work(thread=True, exclusive=True, group="search", description="search")
    def _run(self, request: SearchRequest, keep_cursor: bool) -> None:
        worker = get_current_worker()
        try:
            answer = self._runner.run(request, lambda: worker.is_cancelled)
            message: Message = self.Answered(request, answer, keep_cursor)
        except StoppedError:
            return
        except TierdeckError as e:
            message = self.Failed(request, e)
        if not worker.is_cancelled:
            self.post_message(message)

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        if event.request.number == self._number:  # else something else was asked since
            self._show_answer(event.answer, keep_cursor=event.keep_cursor)

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        if event.request.number == self._number:
            self._say(error_status(event.error))

    @on(MemoryList.Failed)
    def _page_failed(self, event: MemoryList.Failed) -> None:
        self._say(error_status(event.error))

    def _show_answer(self, answer: SearchAnswer, *, keep_cursor: bool) -> None:
        self._answer = self._panes.answer = answer
        self._alpha_bar.is_meaning_off = answer.degraded is not None
        self._results.show_empty(nothing_found(answer))
        self._results.show_rows(answer.hits, alpha=answer.alpha, keep_cursor=keep_cursor)
        self._say(answer_status(answer))

    @on(ArchiveCounted)
    def _archive_counted(self, event: ArchiveCounted) -> None:
        if event.number == self._number:
            self._archived_rows = event.rows
            self._results.show_empty(nothing_to_browse(self._query.chips, event.rows))
            self._say_browse_status()

    @on(MemoryList.Loaded, "#results")
    def _loaded(self) -> None:
        node_id, self._opening_memory = self._opening_memory, ""
        if node_id:
            self._panes.open_memory(node_id)
        if self._answer is not None or not self._query.is_empty:
            return
        self._say_browse_status()
        if self._archive_request != self._number:  # the first page of what was asked; it comes before this count
            self._archive_request = self._number
            self._count_archived(self._number, self._query.filter)

    def _say_browse_status(self) -> None:
        total, archived = self._results.total_rows, self._archived_rows
        notes = self._query.notes
        self._say(browse_status(total, archived_rows=archived, is_oldest_first=self._is_oldest_first, notes=notes))

    def _say(self, status: Line) -> None:
        if self._patience is not None:
            self._patience.stop()
        self._status = status
        marked = marked_piece(len(self._results.marked_ids))
        self.query_one("#status", LineBar).show((marked, *status) if marked.text else status)

    @property
    def _box(self) -> QueryBox:
        return self.query_one("#query", QueryBox)

    @property
    def _alpha_bar(self) -> AlphaBar:
        return self.query_one("#alpha", AlphaBar)

    @property
    def _panes(self) -> ResultPanes:
        return self.query_one("#panes", ResultPanes)

    @property
    def _results(self) -> MemoryList:
        return self._panes.results
