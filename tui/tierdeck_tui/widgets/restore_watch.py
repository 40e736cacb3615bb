"""The line of a restore dialog that says what has moved since it was opened, and looks for it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import work
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from tierdeck.checkpoint.running import RestoreMode
from tierdeck.errors import TierdeckError
from tierdeck_tui.reading.restore_offer import Offers, is_changed, offers_as_they_stand
from tierdeck_tui.view.checkpoint.moved import Moved, what_moved
from tierdeck_tui.view.sanitise import visible

# A stat of the session's folder and of each journal, and a look at its lease.
LOOK_S = 1.0


class RestoreWatch(Static):
    """Looks at the session again and again, and says what is not as it was; no line while all is.

    Args:
        offers: as the dialog shows them first.
        why: what is to be said in any case.
    """

    DEFAULT_CSS = """
    RestoreWatch { height: auto; color: $text-warning; }
    """

    @dataclass
    class Looked(Message):
        """Something changed: the offers as they are, or why they can't be told any more; both None: nothing did."""

        offers: Offers | None = None
        error: TierdeckError | None = None

    def __init__(self, offers: Offers, why: str = "", *, id: str | None = None) -> None:
        super().__init__("", markup=False, id=id)
        self._first = self._offers = offers
        self._why = why
        self._dropped: tuple[str, ...] = ()

    def on_mount(self) -> None:
        """Look as long as it is there."""
        self.set_interval(LOOK_S, self._look)

    def say(self, mode: RestoreMode, offers: Offers, moved: Moved | None = None) -> None:
        """Say what has moved in the way that is shown.

        Args:
            offers: as the dialog shows them now.
            moved: what moved last: choices that it took away are said from now on.
        """
        self._offers = offers
        if moved is not None:
            self._dropped = tuple(dict.fromkeys((*self._dropped, *moved.dropped)))
        since = what_moved(self._first.by_mode[mode], offers.by_mode[mode]).words
        meanwhile = "; ".join(each for each in (*self._dropped, since) if each)
        told = "; ".join(each for each in (self._why, f"meanwhile: {meanwhile}" if meanwhile else "") if each)
        self.update(Content(visible(told, one_line=True)))
        self.display = bool(told)

    def _look(self) -> None:
        if not any(worker.group == "follow" and not worker.is_finished for worker in self.workers):
            self._look_at(self._offers)

    @work(thread=True, group="follow", description="look whether the plan still holds")
    def _look_at(self, offers: Offers) -> None:
        worker = get_current_worker()
        try:
            looked = self.Looked(offers_as_they_stand(offers.found) if is_changed(offers) else None)
        except TierdeckError as e:
            looked = self.Looked(error=e)
        if not worker.is_cancelled:
            self.post_message(looked)
