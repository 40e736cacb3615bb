"""The pane beside the tree of checkpoints: one section at a time of the checkpoint under the cursor.

A section is read when it is shown, and a variable decoded when its row is opened; both in a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from tierdeck.checkpoint.folder import Listed
from tierdeck.errors import TierdeckError
from tierdeck.times import now_ms
from tierdeck_tui.reading.checkpoint_contents import SECTIONS, SectionFacts, SectionName, read_section, read_value
from tierdeck_tui.view.checkpoint.sections import (
    TITLES,
    decoded_lines,
    failed_lines,
    section_lines,
    session_lines,
)
from tierdeck_tui.view.checkpoint.tree import CheckpointRow, SessionRow, TreeRow
from tierdeck_tui.view.checkpoint.variables import variable_line, variables_lines
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.lines import Lines
from tierdeck_tui.widgets.line_list import LineList
from tierdeck_tui.widgets.tab_bar import TabBar, TabTitle
from tierdeck_tui.widgets.text_view import TextView

# A held-down arrow key passes rows faster than this; only where it rests is a file read.
REST_S = 0.06
# From this width on the names of all sections stand side by side.
_TABS_CELLS = 72


class CheckpointPane(Vertical):
    """The pane. `show_row` changes what it is about."""

    DEFAULT_CSS = """
    CheckpointPane > #section-text { height: 1fr; }
    CheckpointPane > #variables { height: 1fr; display: none; }
    CheckpointPane.-variables > #variables { display: block; }
    CheckpointPane.-variables > #section-text { display: none; }
    CheckpointPane.-no-sections > #sections { display: none; }
    """

    @dataclass
    class _Ready(Message):
        # Only lines: what was decoded is let go of in the worker, since that too takes its time.
        number: int
        lines: Lines
        key: str | None

    @dataclass
    class _Listed(Message):
        number: int
        facts: SectionFacts

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.section: SectionName = "summary"
        self.open_variable: str | None = None
        self._row: TreeRow | None = None
        self._session: SessionRow | None = None
        self._shown_key: str | None = None
        self._reveal = False
        self._number = 0
        self._rest: Timer | None = None
        self._cells = 0

    def compose(self) -> ComposeResult:
        """The sections' names, then a text, or the list of variables."""
        yield TabBar(id="sections")
        yield TextView(id="section-text")
        yield LineList(id="variables")

    @property
    def text(self) -> TextView:
        """The text of a section or of a variable."""
        return self.query_one("#section-text", TextView)

    @property
    def variables(self) -> LineList:
        """The list of variables."""
        return self.query_one("#variables", LineList)

    @property
    def lists_variables(self) -> bool:
        """Whether the list of variables is what is shown."""
        return self.has_class("-variables")

    @property
    def has_its_focus(self) -> bool:
        """Whether the focus is in it."""
        return self.text.has_focus or self.variables.has_focus

    def focus_inside(self) -> None:
        """Put the focus on what is shown."""
        (self.variables if self.lists_variables else self.text).focus()

    def show_row(self, row: TreeRow | None, session: SessionRow | None) -> None:
        """Be about this row as soon as the cursor rests on it; `session` is the one that it belongs to."""
        is_other = row is None or self._row is None or row.key != self._row.key
        self._row, self._session = row, session
        if is_other:
            self.open_variable = None
        self._turn(REST_S if is_other else 0)

    def go_to_section(self, step: int) -> None:
        """The next section (1) or the one before (-1), and round again."""
        self.show_section(SECTIONS[(SECTIONS.index(self.section) + step) % len(SECTIONS)])

    def show_section(self, section: SectionName) -> None:
        """Show this section."""
        self.section, self.open_variable = section, None
        self._turn(0)

    def close_variable(self) -> bool:
        """Back from a value to the list of variables; False when no value is shown."""
        if self.open_variable is None:
            return False
        self.open_variable = None
        self._turn(0)
        return True

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        self._reveal = reveal
        self._turn(0)

    def on_resize(self) -> None:
        """Lay out anew for another width."""
        if self._room != self._cells:
            self._turn(REST_S)

    def on_show(self) -> None:
        """Read what it came to be about while it was hidden."""
        if not self._cells:
            self.call_after_refresh(self._turn, 0)

    @on(TabBar.Chosen)
    def _section_chosen(self, event: TabBar.Chosen) -> None:
        event.stop()
        for section in SECTIONS:
            if section == event.name:
                self.show_section(section)

    @on(LineList.Opened, "#variables")
    def _open_variable(self, event: LineList.Opened) -> None:
        event.stop()
        self.open_variable = self.variables.cursor_key
        self._turn(0)

    @on(LineList.Highlighted, "#variables")
    @on(LineList.Marked, "#variables")
    def _keep_inside(self, event: LineList.Highlighted | LineList.Marked) -> None:
        event.stop()  # these are not the tree's rows

    @property
    def _room(self) -> int:
        # Room for the scrollbar is kept from the start: it comes and goes with the length of the text.
        return max(10, self.size.width - 1)

    def _turn(self, wait_s: float) -> None:
        self._number += 1
        if self._rest is not None:
            self._rest.stop()
        is_checkpoint = isinstance(self._row, CheckpointRow)
        self.set_class(not is_checkpoint, "-no-sections")
        tabs = [TabTitle(name, TITLES[name]) for name in SECTIONS]
        # Where the names do not fit, those before the one that is shown are left out.
        at = SECTIONS.index(self.section)
        tabs = tabs[max(0, at - 2) :] if self.size.width < _TABS_CELLS else tabs
        self.query_one("#sections", TabBar).show(tabs, self.section, line(Piece("n next", "muted")))
        if self._row is None:
            self._put(Lines(), key=None)
        elif wait_s and is_checkpoint:
            self._rest = self.set_timer(wait_s, self._begin)
        else:
            self._begin()

    def _begin(self) -> None:
        if self._row is None:
            return
        if not self.size.width or not self.is_on_screen:
            self._cells = 0  # nobody sees it: it is read when it is shown
            return
        self._cells = self._room
        if isinstance(self._row, CheckpointRow):
            self._read(
                self._number, self._row.listed, self.section, self.open_variable, self._cells, reveal=self._reveal
            )
        else:
            contents = self._session.contents if self._session is not None else None
            self._put(session_lines(self._row, contents, now_ms(), self._cells), key=self._row.key)

    @work(thread=True, exclusive=True, group="detail", description="read a checkpoint")
    def _read(
        self, number: int, listed: Listed, section: SectionName, name: str | None, cells: int, *, reveal: bool
    ) -> None:
        worker = get_current_worker()
        try:
            told: Message
            if name is not None:
                lines = decoded_lines(read_value(listed, name), cells, reveal=reveal)
                told = self._Ready(number, lines, f"{listed.path}:{name}")
            elif section == "variables":
                told = self._Listed(number, read_section(listed, section))
            else:
                lines = section_lines(read_section(listed, section), cells, reveal=reveal)
                told = self._Ready(number, lines, f"{listed.path} {section}")
        except TierdeckError as e:
            told = self._Ready(number, failed_lines(None if name else listed, e, cells), None)
        if not worker.is_cancelled:
            self.post_message(told)

    def on_checkpoint_pane__ready(self, message: _Ready) -> None:
        """Show what was read, unless something else is wanted by now."""
        message.stop()
        if message.number == self._number:
            self._put(message.lines, key=message.key)

    def on_checkpoint_pane__listed(self, message: _Listed) -> None:
        """List the variables, unless something else is wanted by now."""
        message.stop()
        if message.number == self._number:
            self._put_variables(message.facts)

    def _put(self, lines: Lines, *, key: str | None) -> None:
        is_same = key is not None and key == self._shown_key
        self._shown_key = key
        self._switch(to_variables=False)
        self.text.show(lines, keep_place=is_same)

    def _put_variables(self, facts: SectionFacts) -> None:
        units, losses = facts.variables, facts.losses
        changed, kept = {loss.variable for loss in losses}, {unit.name for unit in units}
        gone = [loss for loss in losses if loss.kind == "lost" and loss.variable not in kept]
        lost_lines: dict[int, list[Line]] = {}

        def paint(number: int, cells: int) -> Line:
            if number < len(units):
                return variable_line(units[number], cells, changed=changed)
            if cells not in lost_lines:
                lost_lines.clear()
                lost_lines[cells] = variables_lines((), gone, cells)
            return lost_lines[cells][number - len(units)]

        self._shown_key = None
        self.variables.show_empty([line(Piece("it has no variable", "muted"))])
        names = [*(unit.name for unit in units), *dict.fromkeys(loss.variable for loss in gone)]
        self.variables.show(names, paint)
        self._switch(to_variables=True)

    def _switch(self, *, to_variables: bool) -> None:
        if to_variables == self.lists_variables:
            return
        had_focus = self.has_its_focus
        self.set_class(to_variables, "-variables")
        if had_focus:
            self.focus_inside()


def session_of(row: TreeRow, rows: Sequence[TreeRow]) -> SessionRow | None:
    """The row of the session that a row belongs to."""
    return next((each for each in rows if isinstance(each, SessionRow) and each.info.path == row.info.path), None)
