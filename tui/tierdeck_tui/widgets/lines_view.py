"""A scrolling widget that paints `Line`s itself: the ground of the lists and of the detail's text.

Data reaches the terminal here as strips of finished segments. Nothing parses it: a `str` given to a Textual widget
is markup, and a memory that says `[/x]` would end the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, get_args

from rich.segment import Segment
from rich.style import Style
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tierdeck_tui.view.line import Line, Role


class LinesView(ScrollView, can_focus=True):
    """What the roles of a line's pieces look like; subclasses say which line stands where."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"role--{role}" for role in get_args(Role)}
    DEFAULT_CSS = """
    LinesView {
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; overflow-x: hidden; overflow-y: auto;
        background: $background; color: $foreground;
        & > .role--muted { color: $text-muted; }
        & > .role--strong { text-style: bold; }
        & > .role--match { text-style: bold underline; }
        & > .role--score { text-style: bold; }
        & > .role--keyword { color: $keyword; }
        & > .role--semantic { color: $semantic; }
        & > .role--tier { color: $text-primary; }
        & > .role--type { color: $text-secondary; }
        & > .role--warning { color: $text-warning; }
        & > .role--error { color: $text-error; text-style: bold; }
        & > .role--good { color: $text-success; }
        & > .role--mark { color: $text-primary; text-style: bold; }
    }
    """

    def strip_of(self, line: Line, base: Style, *, is_plain: bool = False) -> Strip:
        """The line in this widget's styles on `base`; `is_plain` keeps of the roles only bold and underline."""
        return Strip(list(self._segments(line, base, is_plain)))

    def _segments(self, line: Line, base: Style, is_plain: bool) -> Iterator[Segment]:
        for piece in line:
            if piece.role == "plain":
                yield Segment(piece.text, base)
                continue
            style = self.get_component_rich_style(f"role--{piece.role}", partial=True)
            if is_plain:
                style = Style(bold=style.bold, underline=style.underline)
            yield Segment(piece.text, base + style)
