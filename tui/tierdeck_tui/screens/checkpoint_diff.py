"""What changed between two checkpoints: by their tables, and when a row is opened by the variable's two values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.worker import get_current_worker

from tierdeck.checkpoint.file.table import VARIABLE
from tierdeck.checkpoint.folder import Diff, Listed
from tierdeck.errors import TierdeckError
from tierdeck_tui.actions import bindings_for
from tierdeck_tui.reading.checkpoint_contents import read_two_values, read_value
from tierdeck_tui.view.checkpoint.diff import diff_lines, value_diff_lines
from tierdeck_tui.view.checkpoint.sections import decoded_lines, failed_lines
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.lines import Lines
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.wrap import wrap
from tierdeck_tui.widgets.line_list import LineList
from tierdeck_tui.widgets.text_view import TextView


class CheckpointDiffScreen(ModalScreen[None]):
    """A row for each thing that is new (`+`), gone (`-`) or another (`~`); enter shows the values.

    Args:
        reveal: show what looks like a secret.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(bindings_for("form"))
    AUTO_FOCUS = "#changes"
    CSS_PATH = "form.tcss"

    @dataclass
    class _Compared(Message):
        name: str
        lines: Lines

    def __init__(self, before: Listed, after: Listed, found: Diff, *, reveal: bool) -> None:
        super().__init__()
        self._before, self._after, self._found = before, after, found
        self._reveal = reveal
        self._lines: tuple[int, list[Line]] = (0, [])
        self._open: str | None = None

    def compose(self) -> ComposeResult:
        """The rows, and the comparison of one in their place."""
        with Vertical(classes="form -tall -full") as box:
            first, second = (f"{each.sequence}, turn {each.turn}" for each in (self._before, self._after))
            box.border_title = Content(f"Changes from checkpoint {first} → {second}")
            box.border_subtitle = Content("enter shows the values · esc back")
            yield LineList(id="changes")
            yield TextView(id="comparison")

    def on_mount(self) -> None:
        """List what changed."""
        found = self._found
        changed = [*found.added, *found.removed, *(each.after for each in found.changed)]
        keys = [f"{unit.kind} {unit.name}" for unit in changed]
        rows = self.query_one("#changes", LineList)
        rows.show([*keys, "same"], self._paint)
        self.query_one("#comparison", TextView).display = False

    def action_submit_form(self) -> None:
        """Compare the values of the row under the cursor."""
        self._compare_row()

    def action_leave_form(self) -> None:
        """Back to the rows; from there, close."""
        if self._open is None:
            self.dismiss(None)
        else:
            self._open = None
            self._show(is_comparison=False)

    @on(LineList.Opened)
    def _compare_row(self) -> None:
        if self._open is not None:
            return
        found = self._found
        changed = [*found.added, *found.removed, *(each.after for each in found.changed)]
        number = self.query_one("#changes", LineList).cursor_number
        if number >= len(changed):
            return
        unit = changed[number]
        if unit.kind != VARIABLE:
            self.notify("only variables are compared by value; the others are sections of the pane")
            return
        self._open = unit.name
        if number < len(found.added):
            sides: tuple[Listed, ...] = (self._after,)
        elif number < len(found.added) + len(found.removed):
            sides = (self._before,)
        else:
            sides = (self._before, self._after)
        self._compare(unit.name, sides, max(20, self.size.width - 6))

    @work(thread=True, exclusive=True, group="detail", description="compare two values")
    def _compare(self, name: str, sides: tuple[Listed, ...], cells: int) -> None:
        worker = get_current_worker()
        try:
            if len(sides) == 1:
                lines = decoded_lines(read_value(sides[0], name), cells, reveal=self._reveal)
                where = f"only in checkpoint {sides[0].sequence}, turn {sides[0].turn}"
                lines = Lines([line(Piece(where, "muted")), line(""), *lines])
            else:
                before, after = read_two_values(self._before, self._after, name)
                lines = Lines(_compared(name, value_diff_lines(before, after, reveal=self._reveal), cells))
        except TierdeckError as e:
            lines = failed_lines(None, e, cells)
        if not worker.is_cancelled:
            self.post_message(self._Compared(name, lines))

    def on_checkpoint_diff_screen__compared(self, message: _Compared) -> None:
        """Show the comparison, unless the operator went back meanwhile."""
        message.stop()
        if message.name == self._open:
            self.query_one("#comparison", TextView).show(message.lines)
            self._show(is_comparison=True)

    def _show(self, *, is_comparison: bool) -> None:
        rows, text = self.query_one("#changes", LineList), self.query_one("#comparison", TextView)
        rows.display, text.display = not is_comparison, is_comparison
        (text if is_comparison else rows).focus()

    def _paint(self, number: int, cells: int) -> Line:
        if self._lines[0] != cells:
            self._lines = cells, diff_lines(self._found, cells)
        return self._lines[1][number]


def _compared(name: str, rows: list[Line], cells: int) -> Iterable[Line]:
    yield line(Piece(visible(name, one_line=True), "strong"), Piece("  before → after", "muted"))
    yield line("")
    if not rows:
        yield line(Piece("both read the same, as far as rows show it", "muted"))
    for row in rows:
        yield from wrap(row, cells)
