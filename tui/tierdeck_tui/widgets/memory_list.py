"""A list of memories, two lines each, of any length: search hits, the whole store, relations.

Textual's lists hold every row: 10,000 rows took DataTable 3.6 s, 100,000 took it 40 s. This one holds the page
that it shows, painted line by line, and reads other pages in a worker thread. The cursor is a memory's id and never
a row number, so that a key acts on what was highlighted, whatever another program writes meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import work
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.worker import get_current_worker

from tierdeck.errors import TierdeckError
from tierdeck.store import Page
from tierdeck.times import now_ms
from tierdeck_tui.reading.memory_pages import PAGE_ROWS, MemoryPages
from tierdeck_tui.view.line import ROW_LINES, Piece, fit, line
from tierdeck_tui.view.memory_row import Row, RowLook, memory_of, row_lines
from tierdeck_tui.widgets.cursor_list import CursorList
from tierdeck_tui.widgets.row_window import RowWindow

_WAITING = line("  ", Piece("…", "muted"))


@dataclass
class ListMessage(Message):
    """What a list tells; `@on` selectors match the list itself."""

    memory_list: MemoryList

    @property
    def control(self) -> MemoryList:
        """The list."""
        return self.memory_list


class MemoryList(CursorList):
    """The list. Fill it with `show_rows` or `show_pages`; it posts `Highlighted`, `Opened`, `Loaded`, `Failed`.

    Args:
        hides_idle_cursor: the cursor shows only while the list has the focus.
    """

    @dataclass
    class Highlighted(ListMessage):
        """The cursor stands on another memory (or on none), or on the same with news about it."""

        row: Row | None

    @dataclass
    class Opened(ListMessage):
        """The operator opened the memory under the cursor."""

        row: Row

    class Loaded(ListMessage):
        """Other rows are shown; `total_rows` may have changed."""

    class Marked(ListMessage):
        """A mark was set or taken away."""

    @dataclass
    class Failed(Message):
        """A page could not be read; the old rows still stand."""

        error: TierdeckError

    @dataclass
    class _PageRead(Message):
        request: int
        page: Page
        keep_cursor: bool

    def __init__(self, *, hides_idle_cursor: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hides_idle_cursor = hides_idle_cursor
        self._window = RowWindow()
        self._pages: MemoryPages | None = None
        self._request = 0
        self._asked_rows: range | None = None
        self._marked: dict[str, None] = {}
        self._alpha = 0.0

    @property
    def cursor_row(self) -> Row | None:
        """The highlighted row; None in an empty list, and while its page is being read."""
        return self._window.cursor_row

    @property
    def cursor_number(self) -> int:
        """Where the cursor stands, 0 being the first row."""
        return self._window.cursor

    @property
    def total_rows(self) -> int:
        """How many rows the list has."""
        return self._window.total

    @property
    def marked_ids(self) -> tuple[str, ...]:
        """The ids of the marked memories, in the order of marking."""
        return tuple(self._marked)

    def show_rows(self, rows: Sequence[Row], *, alpha: float = 0.0, keep_cursor: bool = False) -> None:
        """Show these rows only, the cursor on the same memory if asked for and there, else on the first.

        What is looked at is posted even where it is the same row: the answer that it stands in is another one.
        """
        self._pages, self._asked_rows = None, None
        self._request += 1
        self._alpha = alpha
        before = self.cursor_row
        self._take(rows, 0, len(rows), keep_cursor=keep_cursor)
        if before is not None and self.cursor_row == before:
            self.post_message(self.Highlighted(self, before))

    def show_pages(self, pages: MemoryPages, *, keep_cursor: bool = False) -> None:
        """Show a list of the store; the old rows stay until its first page was read."""
        self._pages = pages
        place = self._window.place if keep_cursor else None
        self._read(lambda wanted: wanted.around(place), asked=None, keep_cursor=keep_cursor)

    def reload(self) -> None:
        """Read the shown page again, around the cursor's memory; does nothing for rows that were given."""
        place, number, total = self._window.place, self._window.cursor, self._window.total
        if place is not None or number == 0:
            self._read(lambda pages: pages.around(place), asked=None)
        else:
            start = max(0, number - PAGE_ROWS // 2)
            self._read(lambda pages: pages.at(start, total), asked=range(start, start + PAGE_ROWS))

    def clear_marks(self) -> None:
        """Take every mark away."""
        self._marked.clear()
        self.post_message(self.Marked(self))
        self._repaint()

    def action_open_row(self) -> None:
        """Open the memory under the cursor."""
        row = self.cursor_row
        if row is not None:
            self.post_message(self.Opened(self, row))

    def action_toggle_mark(self) -> None:
        """Mark the memory under the cursor, or take its mark away, and go on to the next."""
        row = self.cursor_row
        if row is None:
            return
        node_id = memory_of(row).id
        if node_id in self._marked:
            del self._marked[node_id]
        else:
            self._marked[node_id] = None
        self.post_message(self.Marked(self))
        self._repaint()
        self.action_cursor_down()

    # Painting.

    def render_line(self, y: int) -> Strip:
        """The line at `y` of the view."""
        at, cells = self.scroll_offset.y + y, self.scrollable_content_region.width
        if self._window.total == 0:
            text = self._empty[y] if y < len(self._empty) else ()
            return self.strip_of(fit(text, cells), self.ground)
        number = at // ROW_LINES
        if number >= self._window.total:
            return Strip.blank(cells, self.ground)
        if number not in self._painted:
            self._painted[number] = self._paint(number, cells)
        return self._painted[number][at % ROW_LINES]

    def _paint(self, number: int, cells: int) -> tuple[Strip, ...]:
        row = self._window.row(number)
        if row is None:
            blank = self.strip_of(fit(_WAITING, cells), self.ground)
            return (blank, blank)
        is_cursor = number == self._window.cursor and (self.has_focus or not self._hides_idle_cursor)
        look = RowLook(
            cells=cells,
            now_ms=now_ms(),
            alpha=self._alpha,
            is_cursor=is_cursor,
            is_marked=memory_of(row).id in self._marked,
            reveal=self._reveal,
        )
        base = self._cursor_style if is_cursor else self.ground
        return tuple(self.strip_of(one, base, is_plain=is_cursor) for one in row_lines(row, look))

    # Moving.

    def _move_cursor(self, number: int) -> None:
        self._window.move(number)
        self.post_message(self.Highlighted(self, self.cursor_row))

    def _size_virtual(self) -> None:
        lines, height = self._window.total * ROW_LINES, self.size.height
        # A spare line at the end lets the last view, too, begin with a whole row.
        spare = height % ROW_LINES if lines > height else 0
        self.virtual_size = Size(self.scrollable_content_region.width, lines + spare)

    # Pages.

    def _read_what_is_missing(self) -> None:
        first = self.scroll_offset.y // ROW_LINES
        needed = range(min(first, self._window.cursor), max(first + self._view_rows + 1, self._window.cursor + 1))
        missing = self._window.missing(needed)
        if self._pages is None or not missing:
            return
        if self._asked_rows is not None and all(n in self._asked_rows for n in (missing[0], missing[-1])):
            return
        start = max(0, (missing[0] + missing[-1]) // 2 - PAGE_ROWS // 2)
        total = self._window.total
        self._read(lambda pages: pages.at(start, total), asked=range(start, start + PAGE_ROWS))

    def _read(self, ask: Callable[[MemoryPages], Page], *, asked: range | None, keep_cursor: bool = True) -> None:
        if self._pages is None:
            return
        self._request += 1
        self._asked_rows = asked
        self._read_page(self._request, self._pages, ask, keep_cursor)

    @work(thread=True, exclusive=True, group="page", description="read a page")
    def _read_page(
        self, request: int, pages: MemoryPages, ask: Callable[[MemoryPages], Page], keep_cursor: bool
    ) -> None:
        worker = get_current_worker()
        try:
            answer: Message = self._PageRead(request, ask(pages), keep_cursor)
        except TierdeckError as e:
            answer = self.Failed(e)
        if not worker.is_cancelled:  # nobody wants it, or the app has ended
            self.post_message(answer)

    def on_memory_list__page_read(self, message: _PageRead) -> None:
        """Show a page, unless something else was asked for since."""
        message.stop()
        if message.request == self._request:
            self._asked_rows = None
            page = message.page
            self._take(page.rows, page.first_row, page.total_rows, keep_cursor=message.keep_cursor)

    def _take(self, rows: Sequence[Row], first: int, total: int, *, keep_cursor: bool) -> None:
        before = self.cursor_row
        if not keep_cursor:
            self._window.forget_cursor()
        moved = self._window.take(rows, first, total)
        self._size_virtual()
        if not keep_cursor:
            self.scroll_to(y=0, animate=False, force=True)
        elif moved:
            self.scroll_to(y=self.scroll_offset.y + moved * ROW_LINES, animate=False, force=True)
        self._keep_cursor_in_view()
        self._repaint()
        if self.cursor_row != before:
            self.post_message(self.Highlighted(self, self.cursor_row))
        self.post_message(self.Loaded(self))
        self._read_what_is_missing()
