"""A scrolling widget that paints `Line`s itself: the ground of the lists and of the detail's text.

Data reaches the terminal here as strips of finished segments. Nothing parses it: a `str` given to a Textual widget
is markup, and a memory that says `[/x]` would end the program.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tierdeck_tui.view.line import Line
from tierdeck_tui.widgets.role_style import RoleStyles, bare, role_styles


class LinesView(ScrollView, can_focus=True):
    """What a line's pieces look like; subclasses say which line stands where."""

    DEFAULT_CSS = """
    LinesView {
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; overflow-x: hidden; overflow-y: auto;
        background: $background; color: $foreground;
    }
    """

    _ground: Style | None = None
    _roles: RoleStyles | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint these lines of the view. What they share is found out here, once and not for each line."""
        ground, roles = self.rich_style, role_styles(self.app.theme_variables)
        if ground != self._ground or roles is not self._roles:
            self._ground, self._roles = ground, roles
            self._forget_painted()
        return super().render_lines(crop)

    @property
    def ground(self) -> Style:
        """The style of plain text here."""
        return self.rich_style if self._ground is None else self._ground

    def strip_of(self, line: Line, base: Style, *, is_plain: bool = False) -> Strip:
        """The line in the styles of its roles on `base`; `is_plain` keeps of the roles only bold and underline."""
        roles = role_styles(self.app.theme_variables) if self._roles is None else self._roles
        return Strip(list(_segments(line, base, roles, is_plain)))

    def _forget_painted(self) -> None:
        """Forget what was painted in other styles; for subclasses that keep it."""


def _segments(line: Line, base: Style, roles: RoleStyles, is_plain: bool) -> Iterator[Segment]:
    for piece in line:
        style = roles.get(piece.role)
        if style is None:
            yield Segment(piece.text, base)
        else:
            yield Segment(piece.text, base + (bare(style) if is_plain else style))
