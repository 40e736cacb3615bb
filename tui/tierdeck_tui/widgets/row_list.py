"""A list of what promotion has to show, two lines a row, of any length: candidates, the log, runs.

Like `MemoryList` it paints line by line and its cursor is a row's key, never its number. Unlike it, what it lists
can only be read onward, page by page from the top (candidates by what they lack, the log by its id): it holds what
was read so far and reads on when the end comes near.
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
from tierdeck.times import now_ms
from tierdeck_tui.reading.promotion_items import PAGE_ROWS, Item, ItemPage, ReadItems
from tierdeck_tui.view.line import ROW_LINES, Piece, fit, line
from tierdeck_tui.view.promotion.row import ItemLook, item_lines
from tierdeck_tui.view.wrap import wrap
from tierdeck_tui.widgets.cursor_list import CursorList

_INDENT = "  "
_MORE = line("  ", Piece("… more", "muted"))


@dataclass
class RowListMessage(Message):
    """What a list tells; `@on` selectors match the list itself."""

    row_list: RowList

    @property
    def control(self) -> RowList:
        """The list."""
        return self.row_list


class RowList(CursorList):
    """The list. Fill it with `show`; it posts `Highlighted`, `Opened`, `Marked` and `Failed`."""

    @dataclass
    class Highlighted(RowListMessage):
        """The cursor stands on another row (or on none), or on the same with news about it."""

        item: Item | None

    @dataclass
    class Opened(RowListMessage):
        """The operator opened the row under the cursor."""

        item: Item

    class Marked(RowListMessage):
        """A mark was set or taken away."""

    @dataclass
    class Failed(RowListMessage):
        """A page could not be read; the old rows still stand."""

        error: TierdeckError

    @dataclass
    class _PageRead(Message):
        request: int
        page: ItemPage
        is_onward: bool
        keep_cursor: bool

    @dataclass
    class _ReadFailed(Message):
        request: int
        error: TierdeckError

    def __init__(self, *, id: str | None = None, stays_first: bool = False) -> None:
        super().__init__(id=id)
        self._stays_first = stays_first
        self._items: list[Item] = []
        self._read_first: ReadItems | None = None
        self._more: ReadItems | None = None
        self._cursor = 0
        self._request = 0
        self._is_reading = False
        self._marked: dict[str, Item] = {}

    @property
    def cursor_item(self) -> Item | None:
        """The highlighted row; None in an empty list."""
        return self._items[self._cursor] if self._cursor < len(self._items) else None

    @property
    def cursor_number(self) -> int:
        """Where the cursor stands, 0 being the first row."""
        return self._cursor

    @property
    def total_rows(self) -> int:
        """How many rows were read so far."""
        return len(self._items)

    @property
    def items(self) -> Sequence[Item]:
        """The rows read so far."""
        return self._items

    @property
    def has_more(self) -> bool:
        """Whether there are rows behind those read so far."""
        return self._more is not None

    @property
    def marked(self) -> tuple[Item, ...]:
        """The marked rows, in the order of marking."""
        return tuple(self._marked.values())

    @property
    def is_filled(self) -> bool:
        """Whether it was ever told what to list."""
        return self._read_first is not None

    def show(self, read: ReadItems, *, keep_cursor: bool = False) -> None:
        """List what this reads; the old rows stay until the first page was read."""
        self._read_first = read
        self._ask(read, PAGE_ROWS, is_onward=False, keep_cursor=keep_cursor)

    def reload(self) -> None:
        """Read again as many rows as there are; the cursor stays on its row, marks and scroll stay too.

        With `stays_first` a cursor on the first row is on the first one again, whichever that is now. What counts
        is where it stands when the rows are there: a key that was pressed meanwhile moved it for good.
        """
        if self._read_first is not None:
            rows = max(PAGE_ROWS, len(self._items))
            self._ask(self._read_first, rows, is_onward=False, keep_cursor=True)

    def clear_marks(self) -> None:
        """Take every mark away."""
        self._marked.clear()
        self.post_message(self.Marked(self))
        self._repaint()

    def action_open_row(self) -> None:
        """Open the row under the cursor."""
        item = self.cursor_item
        if item is not None:
            self.post_message(self.Opened(self, item))

    def action_toggle_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away, and go on to the next."""
        item = self.cursor_item
        if item is None or item.node_id is None:
            return
        if item.key in self._marked:
            del self._marked[item.key]
        else:
            self._marked[item.key] = item
        self.post_message(self.Marked(self))
        self._repaint()
        self.action_cursor_down()

    # Painting.

    def render_line(self, y: int) -> Strip:
        """The line at `y` of the view."""
        at, cells = self.scroll_offset.y + y, self.scrollable_content_region.width
        if not self._items:
            said = [part for one in self._empty for part in wrap(one, max(1, cells - len(_INDENT)))]
            return self.strip_of(fit((Piece(_INDENT), *said[y]) if y < len(said) else (), cells), self.ground)
        number = at // ROW_LINES
        if number >= len(self._items):
            is_more = self._more is not None and at == len(self._items) * ROW_LINES
            return self.strip_of(fit(_MORE if is_more else (), cells), self.ground)
        if number not in self._painted:
            self._painted[number] = self._paint(self._items[number], number, cells)
        return self._painted[number][at % ROW_LINES]

    def _paint(self, item: Item, number: int, cells: int) -> tuple[Strip, ...]:
        is_cursor = number == self._cursor
        look = ItemLook(cells, now_ms(), is_cursor, item.key in self._marked, self._reveal)
        base = self._cursor_style if is_cursor else self.ground
        return tuple(self.strip_of(one, base, is_plain=is_cursor) for one in item_lines(item, look))

    # Moving.

    def _move_cursor(self, number: int) -> None:
        self._cursor = number
        self.post_message(self.Highlighted(self, self.cursor_item))

    def _size_virtual(self) -> None:
        lines, height = len(self._items) * ROW_LINES, self.size.height
        # Spare lines at the end let the last view begin with a whole row, and have room to say that there is more.
        spare = height % ROW_LINES if lines > height else 0
        more = ROW_LINES if self._more is not None else 0
        self.virtual_size = Size(self.scrollable_content_region.width, lines + spare + more)

    # Pages.

    def _read_what_is_missing(self) -> None:
        last_seen = self.scroll_offset.y // ROW_LINES + 2 * self._view_rows
        # While all is read again, reading on would take its place, and the old rows would stay.
        if self._more is not None and not self._is_reading and last_seen >= len(self._items):
            self._ask(self._more, PAGE_ROWS, is_onward=True, keep_cursor=True)

    def _ask(self, read: ReadItems, limit_rows: int, *, is_onward: bool, keep_cursor: bool) -> None:
        self._request += 1
        self._is_reading = True
        self._read_page(self._request, lambda: read(limit_rows), is_onward, keep_cursor)

    @work(thread=True, exclusive=True, group="page", description="read a page")
    def _read_page(self, request: int, read: Callable[[], ItemPage], is_onward: bool, keep_cursor: bool) -> None:
        worker = get_current_worker()
        try:
            answer: Message = self._PageRead(request, read(), is_onward, keep_cursor)
        except TierdeckError as e:
            answer = self._ReadFailed(request, e)
        if not worker.is_cancelled:  # nobody wants it, or the app has ended
            self.post_message(answer)

    def on_row_list__page_read(self, message: _PageRead) -> None:
        """Show a page, unless something else was asked for since."""
        message.stop()
        if message.request != self._request:
            return
        self._is_reading = False
        if message.is_onward:
            known = {item.key for item in self._items}  # a row that moved down meanwhile comes twice
            fresh = [item for item in message.page.items if item.key not in known]
            self._take([*self._items, *fresh], message.page.more, keep_cursor=True)
        else:
            is_newest_kept = self._stays_first and self._cursor == 0
            self._take(
                message.page.items, message.page.more, keep_cursor=message.keep_cursor and not is_newest_kept
            )

    def on_row_list__read_failed(self, message: _ReadFailed) -> None:
        """Say so, unless something else was asked for since."""
        message.stop()
        if message.request == self._request:
            self._is_reading = False
            self.post_message(self.Failed(self, message.error))

    def _take(self, items: Sequence[Item], more: ReadItems | None, *, keep_cursor: bool) -> None:
        before, before_number = self.cursor_item, self._cursor
        at = _place_of(self._items[self._cursor :], self._items[: self._cursor], items) if keep_cursor else 0
        self._items, self._more = list(items), more
        self._cursor = at
        self._size_virtual()
        if not keep_cursor:
            self.scroll_to(y=0, animate=False, force=True)
        elif at != before_number:
            y = self.scroll_offset.y + (at - before_number) * ROW_LINES
            self.scroll_to(y=max(0, y), animate=False, force=True)
        self._keep_cursor_in_view()
        self._repaint()
        if self.cursor_item != before:
            self.post_message(self.Highlighted(self, self.cursor_item))
        self._read_what_is_missing()


def _place_of(behind: Sequence[Item], before: Sequence[Item], items: Sequence[Item]) -> int:
    """Where the first of `behind` is now; when it is gone, the next that is still there, else the one before."""
    numbers = {item.key: number for number, item in enumerate(items)}
    for item in (*behind, *reversed(before)):
        if item.key in numbers:
            return numbers[item.key]
    return 0
