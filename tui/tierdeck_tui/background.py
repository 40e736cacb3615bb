"""What goes on beside the screens: the embedding model comes up, the index fills, other programs' writes are seen.

All of it runs in worker threads, tells the app by message, and stops when `should_stop` says so: the indexer within
one batch (some 10 ms with the local model), the watcher at once.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from tierdeck.errors import StoreBusyError, TierdeckError
from tierdeck.model import NodeFilter
from tierdeck.store import count_nodes
from tierdeck.terms.fill import fill_terms
from tierdeck_tui.log_file import log
from tierdeck_tui.messages import (
    BackgroundFailed,
    IndexFilled,
    IndexMoved,
    MeaningChanged,
    StoreChanged,
    WaitingCounted,
)
from tierdeck_tui.reading.console import Console
from tierdeck_tui.reading.promotion_facts import count_waiting

if TYPE_CHECKING:
    from tierdeck.embed.embed_report import EmbedProgress
    from tierdeck.embed.embedder import Embedder

WATCH_S = 1.0
# Of a million memories the candidates take most of a second to count: at most a twentieth of the time goes there.
WAITING_SHARE = 20
# The header follows the index no faster than a person reads.
PROGRESS_S = 0.25
# Whether the store was given to another model, while texts are embedded.
LOOK_S = 0.1
# Small batches: each holds the interpreter for some milliseconds that the screen would wait for.
BATCH_ROWS = 16
EVERYTHING = NodeFilter(include_archived=True)

Post = Callable[[Message], object]


def bring_up_meaning(deck: Console, post: Post) -> None:
    """Load the embedding model; run it in a worker."""
    deck.load_meaning()
    # Modules and the model stay to the end. Without this each full collection walks them again and holds the screen
    # for up to 100 ms (50 without a model) while one types; with it, some 10.
    gc.freeze()
    post(MeaningChanged(deck.meaning_state()))


def fill_index(deck: Console, post: Post, stopped: threading.Event) -> None:
    """Bring the extra terms up to the store, and embed what has no vector yet, where the model is local.

    Run it in a worker. A remote model never runs by itself: memories leave this machine only when asked to. Where
    another program gave the store to another model, that one is loaded here too, and what was begun with the one
    before is left: it would end with the vectors of that one in place of those that may have been paid for.
    """
    if deck.has_other_model():
        bring_up_meaning(deck, post)
    embedder = deck.embedder()
    if stopped.is_set():
        return
    if embedder is None or embedder.is_remote:
        _fill_terms(deck, post, stopped)
    else:
        _embed(deck, embedder, post, stopped)


def _embed(deck: Console, embedder: Embedder, post: Post, stopped: threading.Event) -> None:
    from tierdeck.embed.indexer import run_indexer  # numpy, which the model has brought in by now

    look, told = _NowAndThen(LOOK_S), _NowAndThen(PROGRESS_S)

    def should_stop() -> bool:
        return stopped.is_set() or (look.is_due() and deck.has_other_model())

    def tell(progress: EmbedProgress) -> None:
        if told.is_due():
            post(IndexMoved(progress.done, progress.total))

    try:
        report = run_indexer(
            deck.store,
            embedder,
            deck.settings.embedding,
            on_progress=tell,
            should_stop=should_stop,
            batch_rows=BATCH_ROWS,
        )
    except TierdeckError as e:
        deck.index()  # says in the meaning state whether search by meaning still works
        post(BackgroundFailed(e))
    else:
        if stopped.is_set():
            return
        if deck.has_other_model():
            fill_index(deck, post, stopped)
        else:
            post(IndexFilled(report.embedded))


class _NowAndThen:
    """Says when so many seconds went by since it last did; at once at first."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._due_s = 0.0

    def is_due(self) -> bool:
        now_s = time.monotonic()
        if now_s < self._due_s:
            return False
        self._due_s = now_s + self._every_s
        return True


def _fill_terms(deck: Console, post: Post, stopped: threading.Event) -> None:
    """The terms alone: they need no model, and nothing is sent. With a local model the indexer makes them."""
    try:
        fill_terms(deck.store, should_stop=stopped.is_set)
    except TierdeckError as e:
        post(BackgroundFailed(e))


def watch_store(deck: Console, post: Post, stopped: threading.Event) -> None:
    """Count the memories and what waits for a person, and again whenever somebody wrote, until stopped.

    Run it in a worker.
    """
    seen: int | None = None
    counted: int | None = None
    count_again_s = 0.0
    while not stopped.is_set():
        try:
            version = deck.store.data_version()
            if version != seen:
                post(StoreChanged(count_nodes(deck.store, EVERYTHING), is_first=seen is None))
                seen = version
            if version != counted and time.monotonic() >= count_again_s:
                began_s = time.monotonic()
                post(WaitingCounted(count_waiting(deck)))
                counted, ended_s = version, time.monotonic()
                count_again_s = ended_s + WAITING_SHARE * (ended_s - began_s)
        except StoreBusyError:
            log.info("watch: the store is held by another program")
        except TierdeckError as e:
            post(BackgroundFailed(e))
            return
        stopped.wait(WATCH_S)
