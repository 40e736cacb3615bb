"""The detail pane: everything about one memory, and the memories it is bound to, to follow and come back from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from tierdeck.errors import StoppedError, TierdeckError
from tierdeck.promote.rules import Rules
from tierdeck.search.answer.hit import Hit, SearchAnswer
from tierdeck.store import Store
from tierdeck.times import now_ms
from tierdeck_tui.reading.memory_facts import MemoryFacts, read_memory_facts
from tierdeck_tui.view.detail_lines import DetailText, detail_text
from tierdeck_tui.view.format import counted
from tierdeck_tui.view.line import ROW_LINES, Piece, line
from tierdeck_tui.view.memory_row import memory_of
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.wrap import wrap
from tierdeck_tui.widgets.line_bar import LineBar
from tierdeck_tui.widgets.memory_list import MemoryList
from tierdeck_tui.widgets.text_view import TextView

# A held-down arrow key passes rows faster than this; only where it rests is the memory read.
REST_S = 0.06
_MAX_RELATED_ROWS = 4


@dataclass(frozen=True, slots=True)
class Subject:
    """What the pane shows: a memory, and the hit and answer that say why it came up, if a search found it."""

    node_id: str
    hit: Hit | None = None
    answer: SearchAnswer | None = None


class Detail(Vertical):
    """The pane. `show` and `follow` change its subject; reading and laying out happen in a worker."""

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    Detail { width: 1fr; height: 1fr; }
    Detail > TextView { height: 1fr; padding: 0 0 0 1; }
    Detail > #related-title { display: none; }
    Detail > #related { display: none; height: auto; }
    Detail.-has-related > #related-title { display: block; }
    Detail.-has-related > #related { display: block; }
    """

    @dataclass
    class _Ready(Message):
        number: int
        facts: MemoryFacts
        text: DetailText
        is_same: bool

    @dataclass
    class _Failed(Message):
        number: int
        error: TierdeckError

    def __init__(self, store: Store, *, rules: Rules | None = None, id: str | None = None) -> None:
        super().__init__(id=id)
        self._store = store
        self._rules = rules
        self._subject: Subject | None = None
        self._trail: list[Subject] = []
        self._facts: MemoryFacts | None = None
        self._reveal = False
        self._number = 0
        self._rest: Timer | None = None
        self._cells = 0

    def compose(self) -> ComposeResult:
        """The text, and below it the memories it is bound to."""
        yield TextView(id="detail-text")
        yield LineBar(id="related-title")
        yield MemoryList(hides_idle_cursor=True, id="related")

    @property
    def subject_id(self) -> str | None:
        """The id of the memory that is shown or about to be."""
        return self._subject.node_id if self._subject else None

    @property
    def facts(self) -> MemoryFacts | None:
        """What was read about the memory that is shown; None until it was."""
        return self._facts

    @property
    def has_related(self) -> bool:
        """Whether there are memories to follow."""
        return self.has_class("-has-related")

    def show(self, subject: Subject | None) -> None:
        """Show a memory as soon as the cursor rests on it; None clears the pane.

        Where relations were followed from this very memory, what is read now stays, and the way back leads here.
        """
        if self._trail and subject is not None and subject.node_id == self._trail[0].node_id:
            self._trail[0] = subject
            return
        self._trail.clear()
        self._turn_to(subject, REST_S)

    def follow(self, node_id: str) -> None:
        """Show another memory; `back` comes back to this one."""
        if self._subject is not None:
            self._trail.append(self._subject)
        self._turn_to(Subject(node_id), 0)

    def back(self) -> bool:
        """Go back to the memory that a relation was followed from; False when none was."""
        if not self._trail:
            return False
        self._turn_to(self._trail.pop(), 0)
        return True

    def reload(self) -> None:
        """Read the memory again and keep the place in its text."""
        self._turn_to(self._subject, 0)

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        self._reveal = reveal
        self.query_one("#related", MemoryList).set_reveal(reveal)
        self.reload()

    def on_resize(self) -> None:
        """Lay out anew for another size."""
        self._share_out()
        cells = self._text_cells
        if cells != self._cells and self._subject is not None:
            self._turn_to(self._subject, REST_S)

    @on(MemoryList.Opened, "#related")
    def _follow(self, event: MemoryList.Opened) -> None:
        event.stop()
        self.follow(memory_of(event.row).id)

    @on(MemoryList.Highlighted, "#related")
    @on(MemoryList.Loaded, "#related")
    def _keep_inside(self, event: MemoryList.Highlighted | MemoryList.Loaded) -> None:
        event.stop()  # these are not the results

    @property
    def _text_cells(self) -> int:
        text = self.query_one("#detail-text", TextView)
        room = text.scrollable_content_region.width
        # Room for the scrollbar is kept from the start: it comes and goes with the length of the text.
        return max(10, room - (0 if text.show_vertical_scrollbar else 1))

    def _share_out(self) -> None:
        """Give the relations the rows they need, at most four and at most a third of the pane."""
        count = len(self._facts.related) if self._facts else 0
        room = max(1, self.size.height // 3 // ROW_LINES)
        self.query_one("#related", MemoryList).styles.height = min(count, _MAX_RELATED_ROWS, room) * ROW_LINES
        title = f"── {counted(count, 'relation')}{' · backspace goes back' if self._trail else ''} "
        self.query_one("#related-title", LineBar).show(line(Piece(title.ljust(self.size.width, "─"), "strong")))

    def _turn_to(self, subject: Subject | None, wait_s: float) -> None:
        self._subject = subject
        self._number += 1
        if self._rest is not None:
            self._rest.stop()
        if subject is None:
            self._facts = None
            self.query_one("#detail-text", TextView).show(())
            self.remove_class("-has-related")
        elif wait_s:
            self._rest = self.set_timer(wait_s, self._begin)
        else:
            self._begin()

    def _begin(self) -> None:
        if self._subject is not None and self._text_cells > 0:
            self._cells = self._text_cells
            self._read(self._number, self._subject, self._cells, self._reveal)

    # Named, or Textual would write out the arguments, and an answer holds hundreds of memories.
    @work(thread=True, exclusive=True, group="detail", description="read a memory")
    def _read(self, number: int, subject: Subject, cells: int, reveal: bool) -> None:
        worker = get_current_worker()
        try:
            facts = read_memory_facts(self._store, subject.node_id, self._rules)
            text = detail_text(
                facts, cells, now_ms(),
                hit=subject.hit, answer=subject.answer, reveal=reveal, should_stop=lambda: worker.is_cancelled,
            )  # fmt: skip
            is_same = self._facts is not None and self._facts.node.id == facts.node.id
            answer: Message = self._Ready(number, facts, text, is_same)
        except StoppedError:
            return
        except TierdeckError as e:
            answer = self._Failed(number, e)
        if not worker.is_cancelled:
            self.post_message(answer)

    def on_detail__ready(self, message: _Ready) -> None:
        """Show what was read, unless another memory is wanted by now."""
        message.stop()
        if message.number != self._number:
            return
        self._facts = facts = message.facts
        text = self.query_one("#detail-text", TextView)
        read = message.text
        text.show(read.lines, read.section_starts, read.match_lines, keep_place=message.is_same)
        related = self.query_one("#related", MemoryList)
        self.set_class(bool(facts.related), "-has-related")
        if not facts.related and related.has_focus:
            text.focus()
        self._share_out()
        related.show_rows(facts.related, keep_cursor=message.is_same)

    def on_detail__failed(self, message: _Failed) -> None:
        """Say why there is nothing to read."""
        message.stop()
        if message.number == self._number:
            self._facts = None
            self.remove_class("-has-related")
            error = line(Piece("error: ", "error"), visible(message.error.message, one_line=True))
            self.query_one("#detail-text", TextView).show(wrap(error, self._cells))
