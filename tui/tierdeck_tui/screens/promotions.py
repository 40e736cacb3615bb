"""The Promotions screen: what the rules would move and why, what lacks one thing, what was moved, and the runs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual import on
from textual.css.query import NoMatches
from textual.widget import Widget

from tierdeck.promote.records import LogEntry
from tierdeck.promote.rules import RuleName
from tierdeck_tui.actions import Scope
from tierdeck_tui.messages import MemoryWanted
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.promotion_facts import configured_rules
from tierdeck_tui.reading.promotion_items import (
    CandidateItem,
    LogItem,
    ReadItems,
    RunItem,
    candidate_items,
    hold_items,
    log_items,
    near_items,
    run_items,
)
from tierdeck_tui.screens.choice import Choice, ChoiceDialog
from tierdeck_tui.screens.log_filter_form import LogFilterForm
from tierdeck_tui.screens.pane_screen import PaneScreen
from tierdeck_tui.screens.promotion_numbers import PromotionNumbersScreen
from tierdeck_tui.view.line import Line
from tierdeck_tui.view.promotion import status as say
from tierdeck_tui.view.promotion.decision_lines import rule_words
from tierdeck_tui.view.promotion.log_ask import RULES, LogAsk
from tierdeck_tui.view.search_status import marked_piece
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.promotion_board import TABS, PromotionBoard, Tab
from tierdeck_tui.widgets.row_list import RowList
from tierdeck_tui.widgets.tab_bar import TabBar, TabTitle

TWO_PANES_CELLS = 100
# Where an action has something to act on; those that are not named can be done in every tab.
_ON_MEMORIES = frozenset({"candidates", "near", "log", "held"})
_LIVE_TABS = {
    "approve": frozenset({"candidates"}),
    "dismiss_candidate": frozenset({"candidates"}),
    "filter_rows": frozenset({"candidates", "near", "log"}),
    **dict.fromkeys(("override", "hold", "log", "copy", "edit", "archive", "restore", "open_memory"), _ON_MEMORIES),
}


class PromotionsScreen(PaneScreen, PromotionNumbersScreen):
    """What is listed in each tab, by which filter, and how much it is; the board below has the lists."""

    scopes: tuple[Scope, ...] = ("panes", "memories", "promotions")
    CSS_PATH = "promotions.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-one-pane"), (TWO_PANES_CELLS, "-two-panes")]  # noqa: RUF012 - as Textual types it
    AUTO_FOCUS = "#candidates"

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._first_tab: Tab = "candidates"
        self._rules: dict[Tab, RuleName | None] = {}
        self._job_status: Line = ()

    def compose_body(self) -> Iterable[Widget]:
        """The tabs, one line that says what is listed, then the lists and the pane."""
        yield TabBar(id="tabs")
        yield LineBar(id="promotion-status")
        yield PromotionBoard(self.deck, id="board")

    def on_mount(self) -> None:
        """Begin with the candidates."""
        self._show_tab(self._first_tab)
        self.count()

    # Called by the frame.

    def reload(self) -> None:
        """Read everything shown again; cursor, marks and place stay."""
        if not self.is_mounted:
            return
        self._board.reload()
        self.count()
        if self.ask.chips:
            self.count_log()

    def open_log(self, node_id: str) -> None:
        """Show what happened to a memory; before the screen is there, as the first thing that it shows."""
        self._filter_log(LogAsk(memory=node_id))

    def open_tab(self, name: str, rule: str | None) -> None:
        """Show a tab, candidates and near ones of this rule only; before the screen is there, as the first one."""
        for tab in TABS:
            if tab == name:
                self._rules[tab] = next((each for each in RULES if each == rule), None)
                self.ask = LogAsk() if tab == "log" else self.ask
                self._first_tab = tab
                if self.is_mounted:
                    self._fill(tab)
                    self._show_tab(tab)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what has something to act on in this tab is offered."""
        live = _LIVE_TABS.get(action)
        return super().check_action(action, parameters) if live is None else self._tab in live

    # Tabs.

    def action_next_tab(self) -> None:
        """The next tab."""
        self._step_tab(1)

    def action_previous_tab(self) -> None:
        """The tab before."""
        self._step_tab(-1)

    @on(TabBar.Chosen)
    def _tab_chosen(self, event: TabBar.Chosen) -> None:
        for tab in TABS:
            if tab == event.name:
                self._show_tab(tab)

    def _step_tab(self, step: int) -> None:
        self._show_tab(TABS[(TABS.index(self._tab) + step) % len(TABS)])

    def _show_tab(self, tab: Tab) -> None:
        if not self._list(tab).is_filled:
            self._fill(tab)
        self._board.turn_to(tab)
        self.refresh_bindings()
        self._say()

    def _fill(self, tab: Tab) -> None:
        self._say_empty(tab)
        if not self.is_foreign:
            self._list(tab).show(self._read_of(tab))

    def _read_of(self, tab: Tab) -> ReadItems:
        store, rules = self.deck.store, configured_rules(self.deck)
        if tab == "candidates":
            return candidate_items(store, rules, self._rules.get(tab))
        if tab == "near":
            return near_items(store, rules, self._rules.get(tab))
        if tab == "log":
            return log_items(store, self.log_filter())
        return run_items(store) if tab == "runs" else hold_items(store)

    # What is said.

    def numbers_changed(self) -> None:
        """Say the numbers, and what an empty list means by them."""
        self._say()
        for tab in TABS:
            self._say_empty(tab)

    def show_job(self, status: Line) -> None:
        """Say what is at work in place of what is listed."""
        self._job_status = status
        self._say()

    def _say(self) -> None:
        try:
            bar = self.query_one("#promotion-status", LineBar)
        except NoMatches:  # a thread's last word, while the screen is taken down
            return
        marked = marked_piece(len(self._board.rows.marked))
        lead = (marked,) if marked.text and not self._job_status else ()
        status = self._job_status or self._status()
        short = () if self._job_status else self._status(is_short=True)
        bar.show((*lead, *status), (*lead, *short))
        facts = self.facts
        numbers = say.tab_numbers(facts)
        tabs = [TabTitle(tab, tab.capitalize(), numbers.get(tab, "")) for tab in TABS]
        self.query_one("#tabs", TabBar).show(tabs, self._tab, say.spark_line(facts))

    def _status(self, *, is_short: bool = False) -> Line:
        if self.is_foreign:
            return say.not_adopted_status()
        if self.failure is not None:
            return say.failed_lines(self.failure)[1]
        facts, rule = self.facts, self._rules.get(self._tab)
        if self._tab == "log":
            return say.log_status(self.log_rows, self.ask.chips)
        if self._tab == "runs":
            return say.runs_status(facts)
        if self._tab == "held":
            return say.held_status(facts)
        numbers = None if facts is None else facts.candidates if self._tab == "candidates" else facts.near
        return say.by_rule_status(numbers, rule, is_near=self._tab == "near", is_short=is_short)

    def _say_empty(self, tab: Tab) -> None:
        rule = self._rules.get(tab)
        if self.is_foreign:
            lines = say.not_adopted()
        elif self.failure is not None:
            lines = say.failed_lines(self.failure)
        elif tab == "candidates":
            lines = say.nothing_waits(self.facts, rule, is_automatic=self.deck.settings.promotion.automatic)
        elif tab == "near":
            lines = say.nothing_near(rule)
        elif tab == "log":
            lines = say.nothing_logged(self.ask.chips)
        else:
            lines = say.no_runs() if tab == "runs" else say.none_held()
        self._list(tab).show_empty(lines)

    @on(RowList.Failed)
    def _page_failed(self, event: RowList.Failed) -> None:
        self.failure = event.error
        event.row_list.show_empty(say.failed_lines(event.error))
        self._say()

    # The rows.

    @on(RowList.Marked)
    def _marked(self) -> None:
        self._say()

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        if isinstance(event.item, RunItem):
            self._filter_log(LogAsk(run=event.item.run.id))
            return
        self._board.open_pane()

    def action_filter_rows(self) -> None:
        """Choose which rows to list: of one rule; in the log by actor, tier, kind, rule and time."""
        if self._tab == "log":
            form = LogFilterForm(self.ask, now_ms=self.deck.store.now_ms())
            self.app.push_screen(form, lambda ask: self._filter_log(ask) if ask is not None else None)
        else:
            choices = [Choice("", "all rules"), *(Choice(rule, rule_words(rule)) for rule in RULES)]
            dialog = ChoiceDialog("List", "", choices, first=self._rules.get(self._tab) or "")
            self.app.push_screen(dialog, partial(self._filter_rule, self._tab))

    def action_drop_row_filter(self) -> None:
        """List all rows again."""
        if self._tab == "log" and self.ask.chips:
            self._filter_log(LogAsk())
        elif self._rules.get(self._tab):
            self._filter_rule(self._tab, "")
        else:
            self.notify("there is no filter to drop")

    def _filter_rule(self, tab: Tab, chosen: str | None) -> None:
        if chosen is not None:
            self._rules[tab] = next((rule for rule in RULES if rule == chosen), None)
            self._fill(tab)
            self._say()

    def _filter_log(self, ask: LogAsk) -> None:
        self.ask = ask
        if not self.is_mounted:
            self._first_tab = "log"
            return
        self.log_rows = self.facts.log_rows if self.facts is not None and not ask.chips else None
        self._list("log").clear_marks()
        self._fill("log")
        if ask.chips:
            self.count_log()
        self._show_tab("log")

    def action_open_memory(self) -> None:
        """Show the memory on the Search screen."""
        node_id = self.subject_id()
        if node_id is not None:
            self.post_message(MemoryWanted(node_id))

    def action_undo(self) -> None:
        """Take back the last change made here, a run's too, else what the row under the cursor tells of."""
        item = self._board.rows.cursor_item
        here = item.run.id if isinstance(item, RunItem) else None
        last, self._last_run = self._last_run, None
        if last is not None:
            self.undo_a_run(last, is_elsewhere=last != here)
        elif here is not None and not self._last_change:
            self.undo_a_run(here)
        else:
            super().action_undo()

    # Panes.

    @property
    def panes(self) -> PromotionBoard:
        """The list and the pane."""
        return self._board

    def action_back(self) -> None:
        """Stop what is at work; else pane to list, then the marks, then the filter."""
        if self.stop_job() or self._board.back():
            return
        if (self._tab == "log" and self.ask.chips) or self._rules.get(self._tab):
            self.action_drop_row_filter()

    # What the actions work on.

    def chosen_candidates(self) -> tuple[CandidateItem, ...]:
        """The marked candidates, else the one under the cursor; none in another tab."""
        chosen = self._board.chosen if self._tab == "candidates" else ()
        return tuple(item for item in chosen if isinstance(item, CandidateItem))

    def chosen_ids(self) -> tuple[str, ...]:
        """The memories of the marked rows, else of the one under the cursor."""
        ids = (item.node_id for item in self._board.chosen)
        return tuple(dict.fromkeys(node_id for node_id in ids if node_id is not None))

    def subject_id(self) -> str | None:
        """The memory of the row under the cursor."""
        item = self._board.rows.cursor_item
        return item.node_id if item is not None else None

    def subject_entry(self) -> LogEntry | None:
        """The row of the log under the cursor."""
        item = self._board.rows.cursor_item
        return item.entry if isinstance(item, LogItem) else None

    def changed(self) -> None:
        """Read again what a change may have moved."""
        self._board.rows.clear_marks()
        self.reload()

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        self._board.set_reveal(reveal)

    @property
    def _board(self) -> PromotionBoard:
        return self.query_one("#board", PromotionBoard)

    @property
    def _tab(self) -> Tab:
        return self._board.tab if self.is_mounted else self._first_tab

    def _list(self, tab: Tab) -> RowList:
        return self._board.list_of(tab)
