"""The list of results and the detail of the one under the cursor: beside each other, or one for the other."""

from __future__ import annotations

from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget

from tierdeck.promote.rules import Rules
from tierdeck.search.answer.hit import Hit, SearchAnswer
from tierdeck.store import Store
from tierdeck_tui.view.memory_row import memory_of
from tierdeck_tui.widgets.detail import Detail, Subject
from tierdeck_tui.widgets.memory_list import MemoryList
from tierdeck_tui.widgets.text_view import TextView

Pane = Literal["list", "detail"]


class ResultPanes(Horizontal):
    """Both panes where the screen has the class `-two-panes`, else the list, and the detail in its place.

    `answer` is the search whose hits the list shows; None while the list is the store's own.

    Args:
        before: selects what comes before the list when one goes round the panes.
    """

    DEFAULT_CSS = """
    ResultPanes { height: 1fr; }
    ResultPanes > MemoryList { width: 1fr; height: 1fr; }
    """

    def __init__(
        self, store: Store, *, rules: Rules | None = None, before: str = "", id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._before = before
        self._store = store
        self._rules = rules
        self._zoomed: Pane | None = None
        self.answer: SearchAnswer | None = None

    def compose(self) -> ComposeResult:
        """The list, then the detail."""
        yield MemoryList(id="results")
        yield Detail(self._store, rules=self._rules, id="detail")

    @property
    def results(self) -> MemoryList:
        """The list."""
        return self.query_one("#results", MemoryList)

    @property
    def detail(self) -> Detail:
        """The detail."""
        return self.query_one("#detail", Detail)

    @property
    def text(self) -> TextView:
        """The detail's text."""
        return self.query_one("#detail-text", TextView)

    @property
    def is_in_detail(self) -> bool:
        """Whether the focus is in the detail."""
        focused = self.screen.focused
        return focused is not None and self.detail in focused.ancestors

    def chosen_ids(self) -> tuple[str, ...]:
        """The marked memories, else the one that is looked at."""
        if self.results.marked_ids:
            return self.results.marked_ids
        subject = self.subject_id()
        return (subject,) if subject else ()

    def subject_id(self) -> str | None:
        """The memory in the detail while the focus is there, else the one under the cursor."""
        if self.is_in_detail:
            return self.detail.subject_id
        row = self.results.cursor_row
        return memory_of(row).id if row is not None else None

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        self.results.set_reveal(reveal)
        self.detail.set_reveal(reveal)

    def open_memory(self, node_id: str) -> None:
        """Show this memory in the detail, the way back leading to the one that was shown there."""
        self.detail.follow(node_id)
        if self.screen.has_class("-one-pane") or self._zoomed == "list":
            self.zoom("detail")
        self.text.focus()

    def next_pane(self) -> None:
        """Query, list, text, relations, and round again; only what can be seen."""
        wanted: list[Widget] = [self.results, self.text]
        if self.detail.has_related:
            wanted.append(self.query_one("#related"))
        before = self.screen.query(self._before) if self._before else ()
        panes = [*before, *(pane for pane in wanted if pane.is_on_screen)]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), -1)
        panes[(at + 1) % len(panes)].focus()

    def go_to_section(self, step: int) -> None:
        """The next section of the detail's text, or the one before."""
        self.text.go_to_section(step)

    def go_to_match(self, step: int) -> bool:
        """The next match in the detail's text that is out of sight, or the one before; False: there is none."""
        return self.text.go_to_match(step)

    def toggle_zoom(self) -> None:
        """Give the room of both panes to the one with the focus, and back."""
        self.zoom(None if self._zoomed else "detail" if self.is_in_detail else "list")

    def zoom(self, pane: Pane | None) -> None:
        """Show one pane only; None shows what fits."""
        self._zoomed = pane
        self.set_class(pane == "detail", "-zoom-detail")
        self.set_class(pane == "list", "-zoom-list")

    def back_relation(self) -> bool:
        """Back to the memory that a relation was followed from; False when none was."""
        if not self.detail.back():
            return False
        self.text.focus()
        return True

    def back(self) -> bool:
        """One step back: along the relations, out of the zoom, to the list; False when there is none left."""
        if self.is_in_detail and self.back_relation():
            return True
        if self.results.has_focus and self._zoomed is None:
            return False
        self.zoom(None)
        self.results.focus()
        return True

    @on(MemoryList.Highlighted, "#results")
    def _highlighted(self, event: MemoryList.Highlighted) -> None:
        if event.row is None:
            if self.results.total_rows == 0:  # else its page is on the way
                self.detail.show(None)
            return
        hit = event.row if isinstance(event.row, Hit) and self.answer is not None else None
        self.detail.show(Subject(memory_of(event.row).id, hit, self.answer if hit else None))

    @on(MemoryList.Opened, "#results")
    def _opened(self) -> None:
        if self.screen.has_class("-one-pane"):
            self.zoom("detail")
        self.text.focus()
