"""How long the console's event loop stands still while the Checkpoints screen is used on a folder of many files.

    python -m tests.bench.checkpoint_loop [count] [--dir DIR]

As `tests.bench.console_loop`: for each thing that is done the processor time of the longest stretch that the loop
worked without giving way, and how late it woke at worst. Asked of us: no stretch of 50 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.bench.checkpoint_folder import filled
from tests.bench.console_loop import LoopWork
from tests.tierdeck_tui.loop_lag import LoopLag
from tests.tierdeck_tui.screens.checkpoints_host import Deck, empty_store, settings_for
from tierdeck.store import open_store
from tierdeck_tui.app import TierdeckApp
from tierdeck_tui.reading.console import Console

DONE = (
    ("nothing", ()),
    ("the screen", ("3",)),
    ("40 rows down", ("j",) * 40),
    ("40 rows down again", ("j",) * 40),
    ("20 half pages down", ("ctrl+d",) * 20),
    ("to the end", ("G",)),
    ("to the start", ("g",)),
    ("10 marks", ("space",) * 10),
    ("reload", ("r",)),
    ("round the sections", ("n",) * 7),
    ("close the session", ("left", "left")),
    ("open it", ("right",)),
)


async def measure(store_path: Path, root: Path) -> None:
    """Do everything once and print a line for each."""
    console = Console(open_store(store_path), settings_for(root))
    app = TierdeckApp(console)
    async with app.run_test(size=(120, 32)) as pilot:
        deck = Deck(app, pilot)
        await deck.settle()
        print(f"{'':24}{'works at most':>14}{'late at most':>14}{'done after':>12}")
        for name, keys in DONE:
            async with LoopLag() as lag, LoopWork() as work:
                begun_s = time.perf_counter()
                for key in keys:
                    await pilot.press(key)
                await deck.settle()
                done_s = time.perf_counter() - begun_s
            print(f"{name:24}{work.worst_ms:11.1f} ms{lag.worst_ms:11.1f} ms{done_s:10.2f} s")
    console.close()


def main() -> None:
    """Make the files, or find them, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "tierdeck-bench-checkpoints")
    asked = parser.parse_args()
    root = asked.dir / str(asked.count)
    filled(root, asked.count)
    print(f"{asked.count:,} checkpoints of one session")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(empty_store(Path(folder) / "bench.db"), root))


if __name__ == "__main__":
    main()
