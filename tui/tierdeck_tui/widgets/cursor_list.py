"""What every list of ours does: a cursor that keys and clicks move and that is never scrolled out of sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.strip import Strip

from tierdeck_tui.actions import bindings_for
from tierdeck_tui.view.line import ROW_LINES, Line
from tierdeck_tui.widgets.lines_view import LinesView


class CursorList(LinesView):
    """Rows of `ROW_LINES` lines each, one of them under the cursor; painted rows are kept until something changes.

    Subclasses have the rows, paint them, and read those that are missing.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("list"))
    COMPONENT_CLASSES: ClassVar[set[str]] = {"list--cursor", "list--cursor-blurred"}
    ALLOW_SELECT = False
    DEFAULT_CSS = """
    CursorList {
        & > .list--cursor {
            background: $block-cursor-background; color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        & > .list--cursor-blurred {
            background: $block-cursor-blurred-background; color: $block-cursor-blurred-foreground;
            text-style: $block-cursor-blurred-text-style;
        }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._empty: Sequence[Line] = ()
        self._reveal = False
        self._painted: dict[int, tuple[Strip, ...]] = {}

    # What subclasses say.

    @property
    def cursor_number(self) -> int:
        """Where the cursor stands, 0 being the first row."""
        raise NotImplementedError

    @property
    def total_rows(self) -> int:
        """How many rows the cursor can stand on."""
        raise NotImplementedError

    def action_open_row(self) -> None:
        """Open the row under the cursor."""
        raise NotImplementedError

    def _move_cursor(self, number: int) -> None:
        """Put the cursor on a row that there is, and tell of it."""
        raise NotImplementedError

    def _read_what_is_missing(self) -> None:
        """Read what is seen, or soon will be, and is not here."""
        raise NotImplementedError

    def _size_virtual(self) -> None:
        """Say how long the list is."""
        raise NotImplementedError

    # What all have.

    def show_empty(self, lines: Sequence[Line]) -> None:
        """What to say while there is no row."""
        self._empty = lines
        self._repaint()

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        self._reveal = reveal
        self._repaint()

    def action_cursor_down(self) -> None:
        """One row down."""
        self._go_to(self.cursor_number + 1)

    def action_cursor_up(self) -> None:
        """One row up."""
        self._go_to(self.cursor_number - 1)

    def action_cursor_first(self) -> None:
        """To the first row."""
        self._go_to(0)

    def action_cursor_last(self) -> None:
        """To the last row that the cursor can stand on."""
        self._go_to(self.total_rows - 1)

    def action_page_down(self) -> None:
        """Half a page down."""
        self._go_to(self.cursor_number + max(1, self._view_rows // 2))

    def action_page_up(self) -> None:
        """Half a page up."""
        self._go_to(self.cursor_number - max(1, self._view_rows // 2))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one opens."""
        number = (self.scroll_offset.y + event.y) // ROW_LINES
        if number < self.total_rows:
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
        self._repaint_row(self.cursor_number)

    def on_blur(self) -> None:
        """The cursor looks different."""
        self._repaint_row(self.cursor_number)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling takes the cursor along, so that a key acts on what is seen."""
        super().watch_scroll_y(old_value, new_value)
        if self.size.height < ROW_LINES:
            return
        top = round(new_value)
        first = -(-top // ROW_LINES)
        last = max(first, (top + self.size.height) // ROW_LINES - 1)
        self._set_cursor(min(max(self.cursor_number, first), last))
        self._read_what_is_missing()

    @property
    def _cursor_style(self) -> Style:
        return self.get_component_rich_style("list--cursor" if self.has_focus else "list--cursor-blurred")

    @property
    def _view_rows(self) -> int:
        return max(1, self.size.height // ROW_LINES)

    def _repaint(self) -> None:
        self._painted.clear()
        self.refresh()

    def _repaint_row(self, number: int) -> None:
        self._painted.pop(number, None)
        self.refresh_lines(number * ROW_LINES, ROW_LINES)

    def _forget_painted(self) -> None:
        self._painted.clear()

    def _go_to(self, number: int) -> None:
        self._set_cursor(max(0, min(number, self.total_rows - 1)))
        self._keep_cursor_in_view()
        self._read_what_is_missing()

    def _set_cursor(self, number: int) -> None:
        if number != self.cursor_number and 0 <= number < self.total_rows:
            self._repaint_row(self.cursor_number)
            self._move_cursor(number)
            self._repaint_row(number)

    def _keep_cursor_in_view(self) -> None:
        top, height = self.cursor_number * ROW_LINES, self.size.height
        if height < ROW_LINES:  # not laid out yet, or hidden: there is no view to keep it in
            return
        if top < self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, force=True)
        elif top + ROW_LINES > self.scroll_offset.y + height:
            # Rounded up, so that the view begins with a whole row.
            rows = -(-(top + ROW_LINES - height) // ROW_LINES)
            self.scroll_to(y=rows * ROW_LINES, animate=False, force=True)
