"""The balance between words and meaning, under the operator's hand."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from tierdeck_tui.view.alpha_line import alpha_line, stepped
from tierdeck_tui.view.line import fit
from tierdeck_tui.widgets.lines_view import LinesView


class AlphaBar(LinesView, can_focus=True):
    """Shows alpha and lets it be moved: `[` and `]` from anywhere, ← → Home End while it has the focus."""

    DEFAULT_CSS = """
    AlphaBar { height: 1; width: 40; overflow: hidden hidden; }
    AlphaBar:focus {
        background: $block-cursor-blurred-background; color: $block-cursor-blurred-foreground;
        text-style: $block-cursor-blurred-text-style;
    }
    """

    alpha: reactive[float] = reactive(0.5)
    is_meaning_off: reactive[bool] = reactive(False)

    @dataclass
    class Changed(Message):
        """The operator moved it."""

        alpha: float

    @dataclass
    class Left(Message):
        """The operator is done with it."""

    def step(self, steps: int) -> None:
        """Move it by tenths."""
        self._set(stepped(self.alpha, steps))

    def on_key(self, event: events.Key) -> None:
        """The arrows belong to it while it has the focus."""
        moves = {"left": -1, "right": 1, "home": -10, "end": 10}
        if event.key in moves:
            event.stop()
            self.step(moves[event.key])
        elif event.key == "enter":
            event.stop()
            self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """A click on the track puts the knob there."""
        text = "".join(piece.text for piece in alpha_line(self.alpha, self.size.width))
        start, end = text.index("◄") + 1, text.index("►") - 1
        if start <= event.x <= end:
            self._set(round((event.x - start) / (end - start), 1))

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - there is only one
        """The line."""
        line = alpha_line(self.alpha, self.size.width, is_meaning_off=self.is_meaning_off)
        return self.strip_of(fit(line, self.size.width), self.ground, is_plain=self.has_focus)

    def _set(self, alpha: float) -> None:
        if alpha != self.alpha:
            self.alpha = alpha
            self.post_message(self.Changed(alpha))
