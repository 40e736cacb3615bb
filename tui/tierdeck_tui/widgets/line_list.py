"""A list of one line a row whose rows are all known: the tree of checkpoints, variables, the rows of a comparison.

Like `RowList` it paints line by line and its cursor is a row's key, never its number. It holds keys alone; what a
row says is asked for when it is painted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from tierdeck_tui.actions import bindings_for
from tierdeck_tui.view.line import Line, Piece, fit, line
from tierdeck_tui.view.wrap import wrap
from tierdeck_tui.widgets.lines_view import LinesView

Paint = Callable[[int, int], Line]
_GUTTER_CELLS = 2
_CURSOR_GLYPH, _MARK_GLYPH = "▌", "✓"


@dataclass
class LineListMessage(Message):
    """What a list tells; `@on` selectors match the list itself."""

    line_list: LineList

    @property
    def control(self) -> LineList:
        """The list."""
        return self.line_list


class LineList(LinesView):
    """The list. Fill it with `show`; it posts `Highlighted`, `Opened` and `Marked`."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("list"))
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-list--cursor", "line-list--cursor-blurred"}
    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LineList {
        & > .line-list--cursor {
            background: $block-cursor-background; color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        & > .line-list--cursor-blurred {
            background: $block-cursor-blurred-background; color: $block-cursor-blurred-foreground;
            text-style: $block-cursor-blurred-text-style;
        }
    }
    """

    class Highlighted(LineListMessage):
        """The cursor stands on another row (or on none), or other rows are shown."""

    class Opened(LineListMessage):
        """The operator opened the row under the cursor."""

    class Marked(LineListMessage):
        """A mark was set or taken away."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys: Sequence[str] = ()
        self._paint_row: Paint = lambda _, cells: fit((), cells)
        self._markable: frozenset[str] = frozenset()
        self._cursor = 0
        self._marked: dict[str, None] = {}
        self._empty: Sequence[Line] = ()

    @property
    def cursor_key(self) -> str | None:
        """The key of the highlighted row; None in an empty list."""
        return self._keys[self._cursor] if self._cursor < len(self._keys) else None

    @property
    def cursor_number(self) -> int:
        """Where the cursor stands, 0 being the first row."""
        return self._cursor

    @property
    def keys(self) -> Sequence[str]:
        """The rows' keys, from the top."""
        return self._keys

    @property
    def marked(self) -> tuple[str, ...]:
        """The keys of the marked rows, in the order of marking."""
        return tuple(self._marked)

    def show(
        self, keys: Sequence[str], paint: Paint, *, markable: frozenset[str] = frozenset(), keep_cursor: bool = True
    ) -> None:
        """Show these rows; the cursor stays on its row, or on the next that is still there.

        Args:
            paint: gives the line of a row by its number and width; called when the row is seen.
            markable: the keys of rows that can be marked; marks of others go.
        """
        before, at = list(self._keys), self._cursor
        self._keys, self._paint_row, self._markable = keys, paint, markable
        self._marked = {key: None for key in self._marked if key in markable}
        self._cursor = _place_of([*before[at:], *before[:at][::-1]], keys) if keep_cursor else 0
        self.virtual_size = Size(self.scrollable_content_region.width, len(keys))
        if not keep_cursor:
            self.scroll_to(y=0, animate=False, force=True)
        self._keep_cursor_in_view()
        self.refresh()
        self.post_message(self.Highlighted(self))

    def show_empty(self, lines: Sequence[Line]) -> None:
        """What to say while there is no row."""
        self._empty = lines
        self.refresh()

    def clear_marks(self) -> None:
        """Take every mark away."""
        self._marked.clear()
        self.post_message(self.Marked(self))
        self.refresh()

    def go_to_key(self, key: str) -> None:
        """Put the cursor on that row, if it is there."""
        if key in self._keys:
            self._go_to(self._keys.index(key))

    # Keys, mouse, scrolling.

    def action_cursor_down(self) -> None:
        """One row down."""
        self._go_to(self._cursor + 1)

    def action_cursor_up(self) -> None:
        """One row up."""
        self._go_to(self._cursor - 1)

    def action_cursor_first(self) -> None:
        """To the first row."""
        self._go_to(0)

    def action_cursor_last(self) -> None:
        """To the last row."""
        self._go_to(len(self._keys) - 1)

    def action_page_down(self) -> None:
        """Half a page down."""
        self._go_to(self._cursor + max(1, self.size.height // 2))

    def action_page_up(self) -> None:
        """Half a page up."""
        self._go_to(self._cursor - max(1, self.size.height // 2))

    def action_open_row(self) -> None:
        """Open the row under the cursor."""
        if self.cursor_key is not None:
            self.post_message(self.Opened(self))

    def action_toggle_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away, and go on to the next."""
        key = self.cursor_key
        if key is None or key not in self._markable:
            return
        if key in self._marked:
            del self._marked[key]
        else:
            self._marked[key] = None
        self.post_message(self.Marked(self))
        self.refresh()
        self.action_cursor_down()

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one opens."""
        number = self.scroll_offset.y + event.y
        if number < len(self._keys):
            self._go_to(number)
            if event.chain == 2:
                self.action_open_row()

    def on_resize(self) -> None:
        """Rows are laid out for the width."""
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._keys))
        self._keep_cursor_in_view()
        self.refresh()

    def on_focus(self) -> None:
        """The cursor looks different."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor looks different."""
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling takes the cursor along, so that a key acts on what is seen."""
        super().watch_scroll_y(old_value, new_value)
        if self.size.height:
            top = round(new_value)
            self._set_cursor(min(max(self._cursor, top), top + self.size.height - 1))

    def render_line(self, y: int) -> Strip:
        """The line at `y` of the view."""
        at, cells = self.scroll_offset.y + y, self.scrollable_content_region.width
        if not self._keys:
            said = [part for one in self._empty for part in wrap(one, max(1, cells - _GUTTER_CELLS))]
            shown = line("  ", *said[y]) if y < len(said) else ()
            return self.strip_of(fit(shown, cells), self.ground)
        if at >= len(self._keys):
            return self.strip_of(fit((), cells), self.ground)
        is_cursor = at == self._cursor
        base = self.ground
        if is_cursor:
            name = "line-list--cursor" if self.has_focus else "line-list--cursor-blurred"
            base = self.get_component_rich_style(name)
        gutter = (
            Piece(_CURSOR_GLYPH if is_cursor else " ", "mark"),
            Piece(_MARK_GLYPH if self._keys[at] in self._marked else " ", "mark"),
        )
        row = self._paint_row(at, max(1, cells - _GUTTER_CELLS))
        return self.strip_of(fit((*gutter, *row), cells), base, is_plain=is_cursor)

    def _go_to(self, number: int) -> None:
        self._set_cursor(max(0, min(number, len(self._keys) - 1)))
        self._keep_cursor_in_view()

    def _set_cursor(self, number: int) -> None:
        if number != self._cursor and 0 <= number < len(self._keys):
            self._cursor = number
            self.refresh()
            self.post_message(self.Highlighted(self))

    def _keep_cursor_in_view(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if height < 1:  # not laid out yet, or hidden
            return
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True)
        elif self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False, force=True)


def _place_of(wanted: Sequence[str], keys: Sequence[str]) -> int:
    """Where the first of the wanted rows that is still there stands; 0 when none is."""
    numbers = {key: number for number, key in enumerate(keys)}
    return next((numbers[key] for key in wanted if key in numbers), 0)
