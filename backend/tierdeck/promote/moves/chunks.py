"""A long run over many memories, cut into short transactions, so that other programs can write between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tierdeck.promote.moves.move import MAX_CHUNK_ROWS

T = TypeVar("T")
PAUSE_MS = 10


@dataclass(frozen=True, slots=True)
class Pace:
    """How a run goes on: who is told how far it is, who may end it, and how long it rests between transactions.

    `on_progress` gets how many are done and how many there are; `should_stop` is asked between transactions, and
    what was done till then stays.
    """

    on_progress: Callable[[int, int], None] | None = None
    should_stop: Callable[[], bool] | None = None
    pause_ms: int = PAUSE_MS


def chunks(items: Sequence[T], pace: Pace) -> Iterator[Sequence[T]]:
    """The items in pieces of at most `MAX_CHUNK_ROWS`; the next is given when the work on the last one is done."""
    total = len(items)
    for start in range(0, total, MAX_CHUNK_ROWS):
        if pace.should_stop is not None and pace.should_stop():
            return
        if start:
            time.sleep(pace.pause_ms / 1000)
        yield items[start : start + MAX_CHUNK_ROWS]
        if pace.on_progress is not None:
            pace.on_progress(min(start + MAX_CHUNK_ROWS, total), total)
