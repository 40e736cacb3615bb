"""A few options on one line: ← → move between them, space chooses; one stop for the Tab key, not one each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from tierdeck_tui.view.line import Piece, fit
from tierdeck_tui.widgets.lines_view import LinesView

_ON, _OFF = "✓", "·"


class OptionRow(LinesView, can_focus=True):
    """Options of which any number can be chosen, or with `is_single` exactly one. The names are our own words."""

    DEFAULT_CSS = """
    OptionRow { height: 1; width: 1fr; overflow: hidden hidden; }
    OptionRow:focus { text-style: none; }
    """

    @dataclass
    class Changed(Message):
        """Something else is chosen."""

        option_row: OptionRow

    def __init__(
        self, names: Sequence[str], chosen: Collection[str], *, is_single: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._names = tuple(names)
        self._chosen = [name for name in names if name in chosen]
        self._is_single = is_single
        self._at = next((n for n, name in enumerate(self._names) if name in chosen), 0)

    @property
    def chosen(self) -> tuple[str, ...]:
        """What is chosen, in the order of the options."""
        return tuple(name for name in self._names if name in self._chosen)

    def on_key(self, event: events.Key) -> None:
        """Move and choose."""
        if event.key in ("left", "right"):
            step = 1 if event.key == "right" else -1
            self._at = max(0, min(self._at + step, len(self._names) - 1))
            if self._is_single:
                self._choose(self._names[self._at])
        elif event.key == "space":
            self._choose(self._names[self._at])
        else:
            return
        event.stop()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click chooses."""
        left = 0
        for number, name in enumerate(self._names):
            if left <= event.x < left + len(name) + 2:
                self._at = number
                self._choose(name)
                self.refresh()
            left += len(name) + 2

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - there is only one
        """The options, the one that a key would choose in reverse while the row has the focus."""
        strips = [self._option(number) for number in range(len(self._names))]
        cells = self.size.width
        return Strip.join(strips).crop_extend(0, cells, self.ground)

    def _option(self, number: int) -> Strip:
        name = self._names[number]
        is_on = name in self._chosen
        base = self.ground
        if number == self._at and self.has_focus:
            base += Style(reverse=True)
        pieces = [
            Piece(_ON if is_on else _OFF, "mark" if is_on else "muted"),
            Piece(name, "strong" if is_on else "plain"),
        ]
        strip = self.strip_of(tuple(pieces), base)
        return Strip.join([strip, self.strip_of(fit((), 1), self.ground)])

    def _choose(self, name: str) -> None:
        before = self.chosen
        if self._is_single:
            self._chosen = [name]
        elif name in self._chosen:
            self._chosen.remove(name)
        else:
            self._chosen.append(name)
        if self.chosen != before:
            self.post_message(self.Changed(self))
