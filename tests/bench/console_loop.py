"""How long the console's event loop stands still while the Search screen is used on a long store.

    python -m tests.bench.console_loop [rows] [--store FILE] [--meaning] [--lifted] [--query WORD] [--columns N]

For each thing that is done: the processor time of the longest stretch that the loop worked without giving way,
which a busy machine hardly changes, and beside it how late the loop woke at worst, which it does. An idle loop and
a megabyte of text stand beside the rest for comparison. With `--meaning` the local model embeds every memory first,
and each search goes by word and by meaning; with `--lifted` the store is one of `tests.bench.scale_store`, whose
vectors are that model's in more dimensions. At the end stands what memory the process has of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.lifted_embedder import LiftedEmbedder
from tests.bench.scale_store import DIMENSIONS
from tests.tierdeck_tui.loop_lag import LoopLag
from tests.tierdeck_tui.screens.search_host import Seen, words_only
from tierdeck.config import Settings
from tierdeck.embed import make_embedder
from tierdeck.embed.embedder import Embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.embed.local import LocalEmbedder
from tierdeck.model import NodeDraft, NodeType, Tier
from tierdeck.store import add_nodes, open_store
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.reading.console import Console, MeaningState

WORDS = (
    "refund",
    "deploy",
    "key",
    "redis",
    "session",
    "postgres",
    "pool",
    "retry",
    "cache",
    "lock",
    "queue",
    "token",
)
STEP_S = 0.002


def to_do(query: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What is done, each with its keys; the last words of a query are typed while the one before is looked for."""
    up, down, clear = ("right_square_bracket",), ("left_square_bracket",), ("escape", "escape")
    return (
        ("nothing", ()),
        ("ten rows down", ("j",) * 10),
        ("ten half pages down", ("ctrl+d",) * 10),
        ("to the end", ("G",)),
        ("to the start", ("g",)),
        ("typing a word", ("slash", *query)),
        ("enter", ("enter",)),
        ("alpha up, down", up * 3 + down * 3),
        ("alpha to the end", down * 12),
        ("alpha from the end", up * 12 + down * 5),
        ("a filter beside it", ("slash", *_keys(" tier:longterm"), "enter")),
        ("scrolling what is found", ("j",) * 10 + ("ctrl+d",) * 4),
        ("clear the query", clear),
        ("letters while it searches", ("slash", *_keys("the effect of "), *query, "enter")),
        ("another mode and back", ("slash", *_keys(" and heat"), "4", "enter", "4", "1")),
        ("clear it", clear),
        ("turn the order round", ("s",)),
        ("reload", ("r",)),
        ("open the oldest", ("s", "enter")),
        ("focus round the panes", ("tab", "tab", "tab", "tab")),
        ("promotions", ("2",)),
        ("candidates, 20 pages", ("ctrl+d",) * 20),
        ("the log, 40 pages", ("right", "right", *("ctrl+d",) * 40)),
        ("reload the log", ("r",)),
    )


def _keys(text: str) -> tuple[str, ...]:
    return tuple({" ": "space", ":": "colon"}.get(char, char) for char in text)


class LiftedConsole(Console):
    """A console whose model made the vectors of a store of `tests.bench.scale_store`."""

    def load_meaning(self) -> Embedder | None:
        """Load it as the console would."""
        embedder = LiftedEmbedder(LocalEmbedder(), DIMENSIONS)
        with self._lock:
            self._embedder = embedder
            self._meaning = MeaningState("ready", embedder.name)
        return embedder


class LoopWork:
    """While the block runs, `worst_ms` is the longest processor time that the loop took without giving way."""

    def __init__(self) -> None:
        self.worst_ms = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LoopWork:
        self._task = asyncio.create_task(self._measure())
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(2 * STEP_S)
        if self._task is not None:
            self._task.cancel()

    async def _measure(self) -> None:
        before_s = time.thread_time()
        while True:
            await asyncio.sleep(STEP_S)
            now_s = time.thread_time()
            self.worst_ms = max(self.worst_ms, (now_s - before_s) * 1000)
            before_s = now_s


def drafts(count: int) -> Iterator[NodeDraft]:
    """Memories of some ten words, a second apart; the newest is a megabyte."""
    start_ms = 1_700_000_000_000
    tiers, kinds = (Tier.TASK, Tier.SESSION, Tier.LONGTERM), tuple(NodeType)
    for n in range(count):
        text = f"memory {n} about " + " ".join(WORDS[(n * step) % len(WORDS)] for step in range(1, 11))
        if n == count - 1:
            text = "a line of a very long memory\n" * 35_000
        yield NodeDraft(text, type=kinds[n % 5], tier=tiers[n % 3], created_at_ms=start_ms + n * 1000)


async def measure(deck: Console, query: str, size: tuple[int, int]) -> None:
    """Do everything once and print a line for each."""
    app = TierdeckApp(deck)
    begun_s = time.perf_counter()
    async with app.run_test(size=size) as pilot:
        seen = Seen(app, pilot)
        while seen.results.total_rows == 0:
            await asyncio.sleep(0.005)
        first_s = time.perf_counter() - begun_s
        print(f"{seen.results.total_rows:,} rows; the first page shown after {first_s:.2f} s")
        print(f"{'':28}{'works at most':>14}{'late at most':>14}{'done after':>12}")
        while deck.embedder() is None and not deck.meaning_state().degraded:
            await asyncio.sleep(0.05)
        for name, keys in to_do(query):
            async with LoopLag() as lag, LoopWork() as work:
                done_s = time.perf_counter()
                for key in keys:
                    await pilot.press(key)
                await _answered(seen)
                done_s = time.perf_counter() - done_s
            found = seen.status[:60]
            print(f"{name:28}{work.worst_ms:11.1f} ms{lag.worst_ms:11.1f} ms{done_s:10.2f} s  {found}", flush=True)
    print(f"{_own_mb():,.0f} MB of its own")
    deck.close()


async def _answered(seen: Seen) -> None:
    """Wait until what was asked for is there; what fills the index goes on."""
    await seen.pilot.pause(0.2)
    while any(worker.group == "search" and worker.is_running for worker in seen.app.workers):
        await asyncio.sleep(0.01)
    await seen.pilot.pause(0.05)


def _own_mb() -> float:
    """Memory that is the process's alone, without what is mapped from files; 0 where /proc does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def main() -> None:
    """Make a store, or take one, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=100_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--meaning", action="store_true")
    parser.add_argument("--lifted", action="store_true")
    parser.add_argument("--query", default="refund")
    parser.add_argument("--columns", type=int, default=120)
    asked = parser.parse_args()
    settings = Settings() if asked.meaning or asked.lifted else words_only(debounce_ms=120)
    size = (asked.columns, 32 if asked.columns >= 100 else 24)
    kind = LiftedConsole if asked.lifted else Console
    if asked.store is not None:
        asyncio.run(measure(kind(open_store(asked.store), settings), asked.query, size))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        with open_store(path, create=True) as store:
            add_nodes(store, drafts(asked.rows))
            if asked.meaning:
                run_indexer(store, make_embedder(settings.embedding), settings.embedding)
        asyncio.run(measure(kind(open_store(path), settings), asked.query, size))


if __name__ == "__main__":
    main()
