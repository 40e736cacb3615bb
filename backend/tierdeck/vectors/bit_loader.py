"""The bits loaded in a thread, while searches go on without them in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing

import apsw

from tierdeck.errors import TierdeckError
from tierdeck.vectors.held_bits import HeldBits, brought_up, read_head
from tierdeck.vectors.model_record import Model


class BitLoader:
    """Loads the bits of one model over a connection of its own.

    `loaded`: what it read, of some state of the index; None before `is_over`, and where it failed: then whoever
    loads them himself learns why.
    """

    def __init__(self, opened: Callable[[], apsw.Connection], model: Model) -> None:
        self._opened = opened
        self._model = model
        self._must_stop = threading.Event()
        self._thread = threading.Thread(target=self._load, name="tierdeck-bits")
        self.loaded: HeldBits | None = None
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Have it end, and wait for that: a few milliseconds."""
        self._must_stop.set()
        self._thread.join()

    def _load(self) -> None:
        try:
            with closing(self._opened()) as conn:
                conn.execute("BEGIN")
                head = read_head(conn)
                if head is not None and head.model == self._model:
                    self.loaded = brought_up(conn, head, None, self._must_stop.is_set)
        except (TierdeckError, apsw.Error, ValueError, TypeError):
            self.loaded = None
