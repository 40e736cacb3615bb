"""A long run over many memories, cut into short transactions, so that other programs can write between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import apsw

from tierdeck.errors import StoreError
from tierdeck.promote.moves.move import MAX_CHUNK_ROWS
from tierdeck.store import Store

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


@contextmanager
def writing_after(store: Store, done_rows: int) -> Iterator[apsw.Connection]:
    """The transaction of the next piece: when it fails, the error says that what went before stands.

    Args:
        done_rows: how many memories the transactions before it were for.

    Raises:
        StoreError: as for every write, of the same class.
    """
    try:
        with store.writing() as conn:
            yield conn
    except StoreError as e:
        if not done_rows:
            raise
        said = e.message.removesuffix("; nothing was changed").removesuffix("; nothing was moved")
        raise type(e)(f"{said}; what was done with {done_rows:,} memories before stays", hint=e.hint) from e
