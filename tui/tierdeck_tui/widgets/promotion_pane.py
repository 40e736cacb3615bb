"""The pane beside the Promotions screen's lists: what stands behind the row under the cursor."""

from __future__ import annotations

from dataclasses import dataclass

from textual import work
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from tierdeck.errors import TierdeckError
from tierdeck.times import now_ms
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.promotion_items import Item
from tierdeck_tui.reading.promotion_subject import read_promotion_subject
from tierdeck_tui.view.detail_lines import DetailText
from tierdeck_tui.view.line import Piece, line
from tierdeck_tui.view.promotion.pane import pane_text
from tierdeck_tui.view.sanitise import visible
from tierdeck_tui.view.wrap import wrap
from tierdeck_tui.widgets.text_view import TextView

# A held-down arrow key passes rows faster than this; only where it rests is the memory read.
REST_S = 0.06


class PromotionPane(TextView):
    """The pane. `show_item` changes what it is about; reading and laying out happen in a worker."""

    @dataclass
    class _Ready(Message):
        number: int
        text: DetailText
        is_same: bool

    @dataclass
    class _Failed(Message):
        number: int
        error: TierdeckError

    def __init__(self, deck: Console, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._deck = deck
        self._item: Item | None = None
        self._shown_key: tuple[type[Item], str] | None = None
        self._reveal = False
        self._number = 0
        self._rest: Timer | None = None
        self._cells = 0

    def show_item(self, item: Item | None) -> None:
        """Be about this row as soon as the cursor rests on it; None clears the pane."""
        self._item = item
        self._turn(REST_S)

    def reload(self) -> None:
        """Read again and keep the place."""
        self._turn(0)

    def set_reveal(self, reveal: bool) -> None:
        """Show what looks like a secret, or mask it again."""
        self._reveal = reveal
        self.reload()

    def on_resize(self) -> None:
        """Lay out anew for another width."""
        if self._room != self._cells:
            self._turn(REST_S)

    @property
    def _room(self) -> int:
        # Room for the scrollbar is kept from the start: it comes and goes with the length of the text.
        return max(10, self.scrollable_content_region.width - (0 if self.show_vertical_scrollbar else 1))

    def _turn(self, wait_s: float) -> None:
        self._number += 1
        if self._rest is not None:
            self._rest.stop()
        if self._item is None:
            self._shown_key = None
            self.show(())
        elif wait_s:
            self._rest = self.set_timer(wait_s, self._begin)
        else:
            self._begin()

    def _begin(self) -> None:
        if self._item is not None and self.size.width:
            self._cells = self._room
            key = (type(self._item), self._item.key)
            self._read(self._number, self._item, self._cells, self._reveal, key == self._shown_key)
            self._shown_key = key

    @work(thread=True, exclusive=True, group="detail", description="read a row")
    def _read(self, number: int, item: Item, cells: int, reveal: bool, is_same: bool) -> None:
        worker = get_current_worker()
        try:
            subject = read_promotion_subject(self._deck, item.node_id) if item.node_id is not None else None
            text = pane_text(item, subject, cells, now_ms(), reveal=reveal)
            answer: Message = self._Ready(number, text, is_same)
        except TierdeckError as e:
            answer = self._Failed(number, e)
        if not worker.is_cancelled:
            self.post_message(answer)

    def on_promotion_pane__ready(self, message: _Ready) -> None:
        """Show what was read, unless another row is wanted by now."""
        message.stop()
        if message.number == self._number:
            self.show(message.text.lines, message.text.section_starts, keep_place=message.is_same)

    def on_promotion_pane__failed(self, message: _Failed) -> None:
        """Say why there is nothing to read."""
        message.stop()
        if message.number == self._number:
            error = line(Piece("error: ", "error"), visible(message.error.message, one_line=True))
            self.show(wrap(error, self._cells))
