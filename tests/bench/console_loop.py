"""How long the console's event loop stands still while the Search screen is used on a long store.

    python -m tests.bench.console_loop [rows] [--store FILE] [--meaning]

For each thing that is done: the processor time of the longest stretch that the loop worked without giving way,
which a busy machine hardly changes, and beside it how late the loop woke at worst, which it does. An idle loop and
a megabyte of text stand beside the rest for comparison. With `--meaning` the local model embeds every memory first,
and each search goes by word and by meaning.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.tierdeck_tui.loop_lag import LoopLag
from tests.tierdeck_tui.screens.search_host import Seen, words_only
from tierdeck.config import Settings
from tierdeck.embed import make_embedder
from tierdeck.embed.indexer import run_indexer
from tierdeck.model import NodeDraft, NodeType, Tier
from tierdeck.store import add_nodes, open_store
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.reading.console import Console

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
DONE = (
    ("nothing", ()),
    ("ten rows down", ("j",) * 10),
    ("ten half pages down", ("ctrl+d",) * 10),
    ("to the end", ("G",)),
    ("to the start", ("g",)),
    ("typing a word", ("slash", *"refund")),
    ("enter", ("enter",)),
    ("alpha", ("right_square_bracket",)),
    ("clear the query", ("escape",)),
    ("turn the order round", ("s",)),
    ("reload", ("r",)),
    ("open a megabyte", ("s", "enter")),
    ("focus round the panes", ("tab", "tab", "tab", "tab")),
    ("promotions", ("2",)),
    ("candidates, 20 pages", ("ctrl+d",) * 20),
    ("the log, 40 pages", ("right", "right", *("ctrl+d",) * 40)),
    ("reload the log", ("r",)),
)


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


async def measure(path: Path, settings: Settings) -> None:
    """Do everything once and print a line for each."""
    deck = Console(open_store(path), settings)
    app = TierdeckApp(deck)
    begun_s = time.perf_counter()
    async with app.run_test(size=(120, 32)) as pilot:
        seen = Seen(app, pilot)
        while seen.results.total_rows == 0:
            await asyncio.sleep(0.005)
        first_s = time.perf_counter() - begun_s
        print(f"{seen.results.total_rows:,} rows; the first page shown after {first_s:.2f} s")
        print(f"{'':24}{'works at most':>14}{'late at most':>14}{'done after':>12}")
        await seen.settle()
        for name, keys in DONE:
            async with LoopLag() as lag, LoopWork() as work:
                done_s = time.perf_counter()
                for key in keys:
                    await pilot.press(key)
                await seen.settle()
                done_s = time.perf_counter() - done_s
            print(f"{name:24}{work.worst_ms:11.1f} ms{lag.worst_ms:11.1f} ms{done_s:10.2f} s")
    deck.close()


def main() -> None:
    """Make a store, or take one, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=100_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--meaning", action="store_true")
    asked = parser.parse_args()
    settings = Settings() if asked.meaning else words_only(debounce_ms=120)
    if asked.store is not None:
        asyncio.run(measure(asked.store, settings))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        with open_store(path, create=True) as store:
            add_nodes(store, drafts(asked.rows))
            if asked.meaning:
                run_indexer(store, make_embedder(settings.embedding), settings.embedding)
        asyncio.run(measure(path, settings))


if __name__ == "__main__":
    main()
