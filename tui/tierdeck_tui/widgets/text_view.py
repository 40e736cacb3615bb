"""A long text to read: scrolls by keys, jumps by sections, can be selected with the mouse. Never edits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip

from tierdeck_tui.actions import bindings_for
from tierdeck_tui.view.line import Line, text_of
from tierdeck_tui.widgets.lines_view import LinesView

_SCROLLING = frozenset({"cursor_down", "cursor_up", "cursor_first", "cursor_last", "page_down", "page_up"})


class TextView(LinesView):
    """Lines that were laid out elsewhere, painted one by one: its cost does not grow with the text."""

    BINDINGS: ClassVar[list[BindingType]] = [b for b in bindings_for("list") if b.id in _SCROLLING]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._section_starts: Sequence[int] = ()
        self._match_lines: Sequence[int] = ()

    @property
    def lines(self) -> Sequence[Line]:
        """What is shown."""
        return self._lines

    def show(
        self,
        lines: Sequence[Line],
        section_starts: Sequence[int] = (),
        match_lines: Sequence[int] = (),
        *,
        keep_place: bool = False,
    ) -> None:
        """Show other lines, from their beginning unless `keep_place`."""
        self._lines, self._section_starts, self._match_lines = lines, section_starts, match_lines
        self.virtual_size = Size(self.scrollable_content_region.width, len(lines))
        if not keep_place:
            self.scroll_to(y=0, animate=False, force=True)
        self.refresh()

    def go_to_section(self, step: int) -> None:
        """Bring the next (1) or the previous (-1) section to the top."""
        here, starts = self.scroll_offset.y, self._section_starts
        at = bisect_right(starts, here) if step > 0 else bisect_left(starts, here) - 1
        if 0 <= at < len(starts):
            self.scroll_to(y=starts[at], animate=False, force=True)
        elif at < 0:
            self.scroll_to(y=0, animate=False, force=True)

    def go_to_match(self, step: int) -> bool:
        """Bring the next (1) or previous (-1) match that is out of sight into the middle; False: there is none."""
        height, matches = self.scrollable_content_region.height, self._match_lines
        first = self.scroll_offset.y
        at = bisect_left(matches, first + height) if step > 0 else bisect_left(matches, first) - 1
        if not 0 <= at < len(matches):
            return False
        self.scroll_to(y=max(0, matches[at] - height // 2), animate=False, force=True)
        return True

    def render_line(self, y: int) -> Strip:
        """The line at `y` of the view, with what is selected set off."""
        at, cells = self.scroll_offset.y + y, self.scrollable_content_region.width
        base = self.ground
        if at >= len(self._lines):
            return Strip.blank(cells, base)
        strip = self.strip_of(self._lines[at], base)
        span = self.text_selection.get_span(at) if self.text_selection is not None else None
        if span is not None:
            strip = _set_off(strip, span, self.screen.get_component_rich_style("screen--selection"))
        return strip.crop_extend(0, cells, base).apply_offsets(0, at)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, lines as they are shown."""
        return selection.extract("\n".join(text_of(line) for line in self._lines)), "\n"

    def action_cursor_down(self) -> None:
        """One line down."""
        self.scroll_relative(y=1, animate=False)

    def action_cursor_up(self) -> None:
        """One line up."""
        self.scroll_relative(y=-1, animate=False)

    def action_cursor_first(self) -> None:
        """To the beginning."""
        self.scroll_to(y=0, animate=False)

    def action_cursor_last(self) -> None:
        """To the end."""
        self.scroll_to(y=self.max_scroll_y, animate=False)

    def action_page_down(self) -> None:
        """Half a page down."""
        self.scroll_relative(y=max(1, self.size.height // 2), animate=False)

    def action_page_up(self) -> None:
        """Half a page up."""
        self.scroll_relative(y=-max(1, self.size.height // 2), animate=False)


def _set_off(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """The strip with the characters of `span` (end -1: to the end) in another style."""
    start, end = span
    segments: list[Segment] = []
    at = 0
    for text, own, _ in strip:
        left = min(max(start - at, 0), len(text))
        right = len(text) if end == -1 else min(max(end - at, left), len(text))
        base = own or Style.null()
        segments += [
            Segment(part, base + style if is_in else base)
            for part, is_in in ((text[:left], False), (text[left:right], True), (text[right:], False))
            if part
        ]
        at += len(text)
    return Strip(segments)
