"""A list of memories, two lines each, of any length: search hits, the whole store, relations.

Textual's lists hold every row: 10,000 rows took DataTable 3.6 s, 100,000 took it 40 s. This one holds the page
that it shows, painted line by line, and reads other pages in a worker thread. The cursor is a memory's id and never
a row number, so that a key acts on what was highlighted, whatever another program writes meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, work
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.worker import get_current_worker

from tierdeck.errors import TierdeckError
from tierdeck.store import Page
from tierdeck.times import now_ms
from tierdeck_tui.actions import bindings_for
from tierdeck_tui.reading.memory_pages import PAGE_ROWS, MemoryPages
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.memory_row import ROW_LINES, Row, RowLook, memory_of, row_lines
from tierdeck_tui.widgets.lines_view import LinesView
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


class MemoryList(LinesView):
    """The list. Fill it with `show_rows` or `show_pages`; it posts `Highlighted`, `Opened`, `Loaded`, `Failed`.

    Args:
        hides_idle_cursor: the cursor shows only while the list has the focus.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("list"))
    COMPONENT_CLASSES: ClassVar[set[str]] = {"memory-list--cursor", "memory-list--cursor-blurred"}
    ALLOW_SELECT = False
    DEFAULT_CSS = """
    MemoryList {
        & > .memory-list--cursor {
            background: $block-cursor-background; color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        & > .memory-list--cursor-blurred {
            background: $block-cursor-blurred-background; color: $block-cursor-blurred-foreground;
            text-style: $block-cursor-blurred-text-style;
        }
    }
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
        self._empty: Sequence[Line] = ()
        self._alpha = 0.0
        self._reveal = False
        self._painted: dict[int, tuple[Strip, ...]] = {}

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
        """Show these rows only, the cursor on the same memory if asked for and there, else on the first."""
        self._pages, self._asked_rows = None, None
        self._request += 1
        self._alpha = alpha
        self._take(rows, 0, len(rows), keep_cursor=keep_cursor)

    def show_pages(self, pages: MemoryPages, *, keep_cursor: bool = False) -> None:
        """Show a list of the store; the old rows stay until its first page was read."""
        self._pages = pages
        place = self._window.place if keep_cursor else None
        self._read(lambda wanted: wanted.around(place), asked=None, keep_cursor=keep_cursor)

    def show_empty(self, lines: Sequence[Line]) -> None:
        """What to say while there is no row."""
        self._empty = lines
        self._repaint()

    def reload(self) -> None:
        """Read the shown page again, around the cursor's memory; does nothing for rows that were given."""
        place, number, total = self._window.place, self._window.cursor, self._window.total
        if place is not None or number == 0:
            self._read(lambda pages: pages.around(place), asked=None)
        else:
            start = max(0, number - PAGE_ROWS // 2)
            self._read(lambda pages: pages.at(start, total), asked=range(start, start + PAGE_ROWS))

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        self._reveal = reveal
        self._repaint()

    def clear_marks(self) -> None:
        """Take every mark away."""
        self._marked.clear()
        self.post_message(self.Marked(self))
        self._repaint()

    # The loop's side: keys, mouse, scrolling.

    def action_cursor_down(self) -> None:
        """One row down."""
        self._go_to(self._window.cursor + 1)

    def action_cursor_up(self) -> None:
        """One row up."""
        self._go_to(self._window.cursor - 1)

    def action_cursor_first(self) -> None:
        """To the first row."""
        self._go_to(0)

    def action_cursor_last(self) -> None:
        """To the last row."""
        self._go_to(self._window.total - 1)

    def action_page_down(self) -> None:
        """Half a page down."""
        self._go_to(self._window.cursor + max(1, self._view_rows // 2))

    def action_page_up(self) -> None:
        """Half a page up."""
        self._go_to(self._window.cursor - max(1, self._view_rows // 2))

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

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one opens."""
        number = (self.scroll_offset.y + event.y) // ROW_LINES
        if number < self._window.total:
            self._go_to(number)
            if event.chain == 2:
                self.action_open_row()

    def on_resize(self) -> None:
        """Rows are laid out for the width."""
        self._size_virtual()
        self._repaint()
        self._keep_cursor_in_view()

    def on_focus(self) -> None:
        """The cursor looks different."""
        self._repaint()

    def on_blur(self) -> None:
        """The cursor looks different."""
        self._repaint()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling takes the cursor along, so that one page holds both what is seen and what a key acts on."""
        super().watch_scroll_y(old_value, new_value)
        if self.size.height < ROW_LINES:
            return
        top = round(new_value)
        first = -(-top // ROW_LINES)
        last = max(first, (top + self.size.height) // ROW_LINES - 1)
        self._set_cursor(min(max(self._window.cursor, first), last))
        self._read_what_is_missing()

    # Painting.

    def render_line(self, y: int) -> Strip:
        """The line at `y` of the view."""
        at, cells = self.scroll_offset.y + y, self.scrollable_content_region.width
        if self._window.total == 0:
            text = self._empty[y] if y < len(self._empty) else ()
            return self.strip_of(fit(text, cells), self.rich_style)
        number = at // ROW_LINES
        if number >= self._window.total:
            return Strip.blank(cells, self.rich_style)
        if number not in self._painted:
            self._painted[number] = self._paint(number, cells)
        return self._painted[number][at % ROW_LINES]

    def _paint(self, number: int, cells: int) -> tuple[Strip, ...]:
        row = self._window.row(number)
        if row is None:
            blank = self.strip_of(fit(_WAITING, cells), self.rich_style)
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
        base = self.rich_style
        if is_cursor:
            name = "memory-list--cursor" if self.has_focus else "memory-list--cursor-blurred"
            base = self.get_component_rich_style(name)
        return tuple(self.strip_of(one, base, is_plain=is_cursor) for one in row_lines(row, look))

    def _repaint(self) -> None:
        self._painted.clear()
        self.refresh()

    # Moving.

    @property
    def _view_rows(self) -> int:
        return max(1, self.size.height // ROW_LINES)

    def _go_to(self, number: int) -> None:
        self._set_cursor(max(0, min(number, self._window.total - 1)))
        self._keep_cursor_in_view()
        self._read_what_is_missing()

    def _set_cursor(self, number: int) -> None:
        if number != self._window.cursor and 0 <= number < self._window.total:
            self._painted.pop(self._window.cursor, None)
            self._painted.pop(number, None)
            self._window.move(number)
            self.refresh()
            self.post_message(self.Highlighted(self, self.cursor_row))

    def _keep_cursor_in_view(self) -> None:
        top, height = self._window.cursor * ROW_LINES, self.size.height
        if height < ROW_LINES:  # not laid out yet, or hidden: there is no view to keep it in
            return
        if top < self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, force=True)
        elif top + ROW_LINES > self.scroll_offset.y + height:
            # Rounded up, so that the view begins with a whole row.
            rows = -(-(top + ROW_LINES - height) // ROW_LINES)
            self.scroll_to(y=rows * ROW_LINES, animate=False, force=True)

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
