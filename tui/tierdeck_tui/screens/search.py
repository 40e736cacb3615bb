"""The Search screen: what the agent remembers, found by word and by meaning, and why it ranks so."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input

from tierdeck.promote.rules import rules_of
from tierdeck.search import rerank
from tierdeck_tui.actions import Scope
from tierdeck_tui.query_text import near_texts, without_chip, without_filters, without_hiding
from tierdeck_tui.reading.console import Console
from tierdeck_tui.screens.asking import AskingScreen
from tierdeck_tui.screens.filter_form import FilterForm
from tierdeck_tui.screens.pane_screen import PaneScreen
from tierdeck_tui.view.detail_lines import MAX_MARKED_CHARS
from tierdeck_tui.view.format import count, short_number
from tierdeck_tui.view.line import line
from tierdeck_tui.widgets.alpha_bar import AlphaBar
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.memory_list import MemoryList
from tierdeck_tui.widgets.query_box import QueryBox
from tierdeck_tui.widgets.result_panes import ResultPanes

TWO_PANES_CELLS = 100


class SearchScreen(PaneScreen, AskingScreen):
    """Query box, balance, filters, list and detail. The query's text holds the words and the filters alike."""

    scopes: tuple[Scope, ...] = ("panes", "memories", "search")
    CSS_PATH = "search.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-one-pane"), (TWO_PANES_CELLS, "-two-panes")]  # noqa: RUF012 - as Textual types it
    AUTO_FOCUS = "#results"

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._opening_text = ""
        self._near_texts: tuple[str, ...] = ()

    def compose_body(self) -> Iterable[Widget]:
        """One line to ask, one for balance and filters, one that says what came of it, then the panes."""
        with Horizontal(id="ask"):
            yield LineBar(id="prompt")
            yield QueryBox(id="query")
        with Horizontal(id="tune"):
            yield AlphaBar(id="alpha")
            yield LineBar(id="chips")
        yield LineBar(id="status")
        rules = rules_of(self.deck.settings.promotion)
        yield ResultPanes(self.deck.store, rules=rules, before="#query", id="panes")

    def on_mount(self) -> None:
        """Begin with the newest memories."""
        self.query_one("#prompt", LineBar).show(line("/ "))
        self._alpha_bar.alpha = self.deck.settings.search.alpha
        self._set_text(self._opening_text)

    # Called by the frame.

    def open_query(self, query_text: str) -> None:
        """Ask this, with the list in front; before the screen is there, as the first thing it asks."""
        if not self.is_mounted:
            self._opening_text = query_text
            return
        self._panes.zoom(None)
        self._set_text(query_text)
        self._results.focus()

    def open_memory(self, node_id: str) -> None:
        """Show a memory in the detail, whatever the list shows; `backspace` goes back to what stood there."""
        if not self.is_mounted:
            self._opening_memory = node_id
            return
        self._panes.open_memory(node_id)

    def reload(self) -> None:
        """Read everything shown again; the cursor stays on its memory."""
        if self.is_mounted:
            self._ask(keep_cursor=True)
            self._panes.detail.reload()

    def meaning_changed(self) -> None:
        """Search again: by meaning what had to do without it, and among memories that have their vectors by now."""
        if self._answer is not None:
            self._ask(keep_cursor=True)

    # Asking.

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        if event.value != self._query.text:
            self._is_typing = True
            self._ask_soon()

    @on(Input.Submitted, "#query")
    def _submitted(self) -> None:
        self._is_typing = False
        self._ask()
        self._results.focus()

    @on(QueryBox.Left)
    @on(AlphaBar.Left)
    def _left_box(self) -> None:
        self._results.focus()

    # Balance and filters.

    @on(AlphaBar.Changed)
    def _alpha_moved(self, event: AlphaBar.Changed) -> None:
        if self._answer is None:
            return
        answer = rerank(self._answer, event.alpha)
        if answer is None:
            self._ask(keep_cursor=True)
        else:
            self._number += 1  # an answer at the old balance that is still on its way is stale
            self._show_answer(answer, keep_cursor=True)

    def action_alpha_down(self) -> None:
        """More weight on the words."""
        self._alpha_bar.step(-1)

    def action_alpha_up(self) -> None:
        """More weight on the meaning."""
        self._alpha_bar.step(1)

    def action_set_alpha(self) -> None:
        """Go to the balance."""
        self._alpha_bar.focus()

    def action_edit_filters(self) -> None:
        """Choose filters in a form; it writes them into the query."""
        self.app.push_screen(FilterForm(self._box.value), self._set_text_if_given)

    def action_drop_filter(self) -> None:
        """Drop the filter that hides most, else the one that was typed last."""
        hidden = self._answer.hidden if self._answer is not None else ()
        text = self._box.value
        if hidden:
            text = without_hiding(text, max(hidden, key=lambda one: one.rows).filter_text)
        elif self._query.chips:
            text = without_chip(text, self._query.chips[-1].text)
        if text != self._box.value:
            self._set_text(text)
        else:
            self.notify("there is no filter to drop")

    def action_take_near(self) -> None:
        """Ask for words near to those that stand nowhere; pressed again for the next, then as typed."""
        text = self._box.value
        if text not in self._near_texts:
            missing = self._answer.missing if self._answer is not None else ()
            self._near_texts = near_texts(text, missing)
        if self._near_texts:
            at = self._near_texts.index(text) + 1
            self._set_text(self._near_texts[at % len(self._near_texts)])
        else:
            self.notify("no word of the query is near to one that is there")

    def action_next_match(self) -> None:
        """Bring the next words found in the opened memory into sight."""
        self._go_to_match(1, "farther down")

    def action_previous_match(self) -> None:
        """Bring the words found before into sight."""
        self._go_to_match(-1, "farther up")

    def _go_to_match(self, step: int, where: str) -> None:
        if self._answer is None:
            self.notify("nothing is searched for")
        elif not self._panes.text.is_on_screen:
            self.notify("open the memory first")
        elif not self._panes.go_to_match(step):
            self.notify(f"no word of the query {where} in the first {count(MAX_MARKED_CHARS)} characters")

    def action_change_sort(self) -> None:
        """Newest or oldest first; a search is always in the order of its scores."""
        if self._answer is not None:
            self.notify("a search is sorted by its score; without words the order is by age")
            return
        self._is_oldest_first = not self._is_oldest_first
        self._ask()

    def _set_text_if_given(self, text: str | None) -> None:
        if text is not None:
            self._set_text(text)

    def _set_text(self, text: str) -> None:
        self._is_typing = False
        self._box.set_query(text)
        self._box.remember(text)
        self._ask()

    # Panes.

    @on(MemoryList.Marked, "#results")
    def _marked(self) -> None:
        self._say(self._status)

    def action_focus_query(self) -> None:
        """Go to the query box."""
        self._box.focus()

    @property
    def panes(self) -> ResultPanes:
        """The list and the detail."""
        return self._panes

    def action_back(self) -> None:
        """Box to list; detail to where it was opened from; list: marks, then filters, then words."""
        if self._box.has_focus or self._alpha_bar.has_focus:
            self._results.focus()
        elif self._panes.back():
            return
        elif self._results.marked_ids:
            self._results.clear_marks()
        elif self._query.chips:
            self._set_text(without_filters(self._box.value))
        elif self._box.value:
            self._set_text("")

    def action_back_relation(self) -> None:
        """Back to the memory that a relation was followed from."""
        self._panes.back_relation()

    # What the actions of `TierActionsScreen` work on.

    def chosen_ids(self) -> tuple[str, ...]:
        """The marked memories, else the one that is looked at."""
        return self._panes.chosen_ids()

    def subject_id(self) -> str | None:
        """The memory in the detail while the focus is there, else the one under the cursor."""
        return self._panes.subject_id()

    def search_command(self) -> str | None:
        """The command line that searches the same; None while nothing is searched."""
        if self._answer is None:
            return None
        alpha = short_number(self._alpha_bar.alpha)
        return self.command("search", "--alpha", alpha, "--", self._query.text)

    def changed(self) -> None:
        """Read again what a change may have moved."""
        self._results.clear_marks()
        self.reload()

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        self._panes.set_reveal(reveal)
