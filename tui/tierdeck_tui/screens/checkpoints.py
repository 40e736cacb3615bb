"""The Checkpoints screen: sessions and their checkpoints as a tree, and what is in the one under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textual import events, on, work
from textual.css.query import NoMatches
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from tierdeck.checkpoint.folder import Answer, Listed, SessionInfo
from tierdeck.errors import TierdeckError
from tierdeck.times import now_ms
from tierdeck_tui.actions import Scope
from tierdeck_tui.reading.checkpoint_sessions import Sessions, Signature, read_sessions, root_of, signature_of
from tierdeck_tui.reading.console import Console
from tierdeck_tui.screens.pane_screen import PaneScreen
from tierdeck_tui.screens.request_actions import Waiting
from tierdeck_tui.screens.restore_actions import RestoreActionsScreen
from tierdeck_tui.view.checkpoint import status as say
from tierdeck_tui.view.checkpoint.tree import CheckpointRow, SessionRow, TreeRow, TreeRows, nothing_there, row_line
from tierdeck_tui.view.line import Line
from tierdeck_tui.widgets.checkpoint_board import CheckpointBoard
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.line_list import LineList

TWO_PANES_CELLS = 100
# How often the sessions' folders are looked at: a stat and a look at the lease of each.
LOOK_S = 1.0


class CheckpointsScreen(PaneScreen, RestoreActionsScreen):
    """What is listed and which sessions are opened; the board below has the tree and the pane."""

    scopes: tuple[Scope, ...] = ("panes", "checkpoints")
    CSS_PATH = "checkpoints.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-one-pane"), (TWO_PANES_CELLS, "-two-panes")]  # noqa: RUF012 - as Textual types it
    AUTO_FOCUS = "#tree"

    @dataclass
    class TreeRead(Message):
        """The sessions were read; `number` tells whether this is still wanted."""

        number: int
        sessions: Sessions
        rows: TreeRows
        keys: Sequence[str]
        numbers: Mapping[str, int]
        markable: frozenset[str]

    @dataclass
    class TreeFailed(Message):
        """They could not be read."""

        number: int
        error: TierdeckError

    @dataclass
    class Looked(Message):
        """What a look at the folders found: whether they are as they were, and what agents have answered."""

        signature: Signature
        answers: Sequence[tuple[Waiting, Answer]]

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._opened: frozenset[str] | None = None
        self._sessions: Sessions | None = None
        self._rows: Sequence[TreeRow] = ()
        self._numbers: Mapping[str, int] = {}
        self._failure: TierdeckError | None = None
        self._number = 0
        self._job_status: Line = ()
        self._wanted_key: str | None = None

    def compose_body(self) -> Iterable[Widget]:
        """One line that says what is there, then the tree and the pane."""
        yield LineBar(id="checkpoint-status")
        yield CheckpointBoard(id="checkpoint-board")

    def on_mount(self) -> None:
        """Read the sessions, and go on looking whether they change."""
        self.say()
        self._read_again()
        self.set_interval(LOOK_S, self._look)

    def reload(self) -> None:
        """Read everything shown again; cursor, marks and place stay."""
        if self.is_mounted:
            self._read_again()

    def store_changed(self) -> None:
        """The store of memories has no checkpoints."""

    def on_screen_resume(self, _: events.ScreenResume) -> None:
        """Look at once what happened while another screen was shown."""
        self._look()

    # Reading.

    def _read_again(self) -> None:
        self._number += 1
        self._read(self._number, self._opened)

    @work(thread=True, exclusive=True, group="page", description="read the checkpoints")
    def _read(self, number: int, opened: frozenset[str] | None) -> None:
        worker = get_current_worker()
        try:
            sessions = read_sessions(root_of(self.deck.settings), opened)
            # Branches are made of every summary, and keys of every name: of ten thousand that takes a moment.
            rows = TreeRows(sessions)
            keys = list(rows.keys())
            numbers = {key: number for number, key in enumerate(keys)}
            told: Message = self.TreeRead(number, sessions, rows, keys, numbers, frozenset(rows.checkpoint_keys()))
        except TierdeckError as e:
            told = self.TreeFailed(number, e)
        if not worker.is_cancelled:
            self.post_message(told)

    def on_checkpoints_screen_tree_read(self, event: TreeRead) -> None:
        """Show the tree, unless it was asked for again since."""
        if event.number != self._number:
            return
        is_first = self._sessions is None
        self._failure, self._sessions, self._rows = None, event.sessions, event.rows
        self._opened, self._numbers = frozenset(event.sessions.contents), event.numbers
        tree = self._board.tree_list
        tree.show_empty(nothing_there(event.sessions, max(10, tree.size.width - 2)))
        tree.show(event.keys, self._paint, markable=event.markable)
        if is_first:
            tree.go_to_key(next((key for key in event.keys if key in event.markable), ""))
        if self._wanted_key is not None:
            tree.go_to_key(self._wanted_key)
            self._wanted_key = None
        self.say()

    def on_checkpoints_screen_tree_failed(self, event: TreeFailed) -> None:
        """Say why; what was listed before stands."""
        if event.number == self._number:
            self._failure = event.error
            self._board.tree_list.show_empty(say.failed_lines(event.error))
            self.say()

    def _look(self) -> None:
        is_looking = any(worker.group == "look" and not worker.is_finished for worker in self.workers)
        if self._opened is not None and not is_looking and self.app.screen_stack[0] is self:
            self._look_at(self.waiting)

    @work(thread=True, group="look", description="look whether checkpoints changed")
    def _look_at(self, waiting: Sequence[Waiting]) -> None:
        worker = get_current_worker()
        answers = []
        try:
            seen = signature_of(root_of(self.deck.settings))
            for each in waiting:
                answer = each.folder.answer_to(each.request_id)
                if answer is not None:
                    answers.append((each, answer))
        except TierdeckError:
            return  # the next reading says it, and nothing is known until then
        if not worker.is_cancelled:
            self.post_message(self.Looked(seen, answers))

    def on_checkpoints_screen_looked(self, event: Looked) -> None:
        """Say what was answered; read again what has changed."""
        for waiting, answer in event.answers:
            if waiting in self.waiting:
                self.answered(waiting, answer)
        if self._sessions is not None and event.signature != self._sessions.signature:
            self.reload()

    # The tree.

    @on(LineList.Highlighted, "#tree")
    def _highlighted(self) -> None:
        row = self._cursor_row
        self._board.pane.show_row(row, self._session_row(row))
        self.refresh_bindings()
        if self._board.is_pane_alone:
            self.say()

    @on(LineList.Marked, "#tree")
    def _marked(self) -> None:
        self.say()

    @on(LineList.Opened, "#tree")
    def _open_row(self) -> None:
        row = self._cursor_row
        if isinstance(row, SessionRow):
            self._set_open(row.info, is_open=row.contents is None)
        elif row is not None:
            self._board.open_pane()
            self.say()

    def action_expand(self) -> None:
        """List the checkpoints of the session under the cursor; in the pane, the next section."""
        row = self._cursor_row
        if self._board.pane.has_its_focus:
            self._board.pane.go_to_section(1)
        elif isinstance(row, SessionRow) and row.contents is None:
            self._set_open(row.info, is_open=True)

    def action_collapse(self) -> None:
        """Go to the session that the row belongs to; there, close it. In the pane, the section before."""
        row = self._cursor_row
        if self._board.pane.has_its_focus:
            self._board.pane.go_to_section(-1)
        elif isinstance(row, SessionRow):
            self._set_open(row.info, is_open=False)
        elif row is not None:
            self._board.tree_list.go_to_key(row.info.path.name)

    def _set_open(self, info: SessionInfo, *, is_open: bool) -> None:
        name = info.path.name
        before = self._opened or frozenset()
        self._opened = before | {name} if is_open else before - {name}
        self.reload()

    def _paint(self, number: int, cells: int) -> Line:
        return row_line(self._rows[number], now_ms(), cells)

    # Panes.

    @property
    def panes(self) -> CheckpointBoard:
        """The list and the pane."""
        return self._board

    def action_next_pane(self) -> None:
        """Tree, pane, and round again."""
        super().action_next_pane()
        self.say()

    def action_zoom(self) -> None:
        """Give the room of both to the one with the focus, and back."""
        super().action_zoom()
        self.say()

    def action_reveal(self) -> None:
        """Show what is masked as a secret, and mask it again."""
        self.is_revealed = not self.is_revealed
        self._board.pane.set_reveal(self.is_revealed)
        self.notify("secrets are shown" if self.is_revealed else "secrets are masked")

    def action_back(self) -> None:
        """Stop what is at work; else value to variables, pane to tree, then the marks."""
        if not self.stop_job():
            self._board.back()
            self.say()

    # What the actions work on.

    def chosen(self) -> tuple[CheckpointRow, ...]:
        """The marked checkpoints, else the one under the cursor."""
        marked = [self._row_of(key) for key in self._board.tree_list.marked]
        rows = tuple(row for row in marked if isinstance(row, CheckpointRow))
        under = self.subject()
        return rows or (() if under is None else (under,))

    def subject(self) -> CheckpointRow | None:
        """The checkpoint under the cursor."""
        row = self._cursor_row
        return row if isinstance(row, CheckpointRow) else None

    def subject_session(self) -> SessionInfo | None:
        """The session that the row under the cursor belongs to."""
        row = self._cursor_row
        return None if row is None else row.info

    def listed_of(self, info: SessionInfo) -> tuple[Listed, ...]:
        """The checkpoints of an opened session."""
        contents = None if self._sessions is None else self._sessions.contents.get(info.path.name)
        return () if contents is None else contents.listed

    def show_job(self, status: Line) -> None:
        """Say what is at work in place of what is listed."""
        self._job_status = status
        self.say()

    def say(self) -> None:
        """Say what is at work, what is waited for, what is marked, what there is."""
        try:
            bar = self.query_one("#checkpoint-status", LineBar)
        except NoMatches:  # a thread's last word, while the screen is taken down
            return
        if self._job_status:
            bar.show(self._job_status)
        elif self._failure is not None:
            bar.show(say.failed_lines(self._failure)[1])
        elif self._board.is_pane_alone and (row := self.subject()) is not None:
            bar.show(say.subject_line(row, now_ms()))
        else:
            marked = len(self._board.tree_list.marked)
            bar.show(say.status_line(self._sessions, marked, [each.what for each in self.waiting]))

    @property
    def _board(self) -> CheckpointBoard:
        return self.query_one("#checkpoint-board", CheckpointBoard)

    @property
    def _cursor_row(self) -> TreeRow | None:
        key = self._board.tree_list.cursor_key
        return None if key is None else self._row_of(key)

    def _row_of(self, key: str) -> TreeRow | None:
        number = self._numbers.get(key)
        return None if number is None else self._rows[number]

    def _session_row(self, row: TreeRow | None) -> SessionRow | None:
        found = None if row is None else self._row_of(row.info.path.name)
        return found if isinstance(found, SessionRow) else None
