"""A look into the store that ends within a few thousand steps of SQLite when its caller has lost interest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import apsw

from tierdeck.errors import StoppedError

T = TypeVar("T")
_STEPS_BETWEEN_CHECKS = 2_000  # some 0.1 ms


def stoppable(
    look: Callable[[apsw.Connection], T], should_stop: Callable[[], bool] | None
) -> Callable[[apsw.Connection], T]:
    """The same look; it raises `StoppedError` soon after `should_stop` says so."""
    if should_stop is None:
        return look

    def watched(conn: apsw.Connection) -> T:
        if should_stop():
            raise StoppedError("search: stopped")
        # The connection outlives the search, so the handler must not.
        conn.set_progress_handler(should_stop, _STEPS_BETWEEN_CHECKS)
        try:
            return look(conn)
        except apsw.InterruptError as e:
            raise StoppedError("search: stopped") from e
        finally:
            conn.set_progress_handler(None)

    return watched
