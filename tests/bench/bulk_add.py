"""Adding many memories against a raw `executemany` into the same schema, in turns, in one run.

    python -m tests.bench.bulk_add [rows] [rounds]

The raw side has its rows ready: ids drawn, metadata written as JSON, nothing checked. It prints each round and the
ratio of the medians: 1.00 is as fast as the raw side, and 0.8 is asked of us.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import apsw

from tierdeck.model import NodeDraft, NodeFilter, NodeType, Tier
from tierdeck.store import add_nodes, count_nodes, open_store
from tierdeck.store.drafts import DRAFT_COLUMNS
from tierdeck.times import now_ms

ASKED_RATIO = 0.8
_INSERT = f"INSERT INTO nodes ({', '.join(DRAFT_COLUMNS)}) VALUES ({', '.join('?' * len(DRAFT_COLUMNS))})"


def main() -> None:
    """Run the comparison and print it."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    texts = memory_texts(rows)
    ours: list[Took] = []
    raw: list[Took] = []
    for number in range(rounds):
        # The order changes each round, so that neither side always finds the warmer machine.
        for side in (ours, raw) if number % 2 == 0 else (raw, ours):
            side.append(add_by_library(texts) if side is ours else add_by_executemany(texts))
        print(f"round {number + 1}: library {ours[-1]}, raw {raw[-1]}")
    ratio, cpu_ratio = (
        statistics.median(getattr(t, part) for t in raw) / statistics.median(getattr(t, part) for t in ours)
        for part in ("wall_s", "cpu_s")
    )
    per_second = rows / statistics.median(t.cpu_s for t in ours)
    print(f"{rows:,} memories: ratio {ratio:.2f} by the clock (asked: {ASKED_RATIO}), {cpu_ratio:.2f} by CPU; ")
    print(f"{per_second:,.0f} memories for each second of CPU")
    sys.exit(0 if ratio >= ASKED_RATIO else 1)


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds by the clock, and of CPU; on a shared machine the second tells more."""

    wall_s: float
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.wall_s:.2f} s ({self.cpu_s:.2f} s CPU)"


class Stopwatch:
    """Measures from when it is made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def took(self) -> Took:
        """What passed since."""
        return Took(time.perf_counter() - self._wall, time.process_time() - self._cpu)


def memory_texts(rows: int) -> list[str]:
    """Short notes of 5 to 40 words out of 5,000."""
    draw = random.Random(1)
    words = [f"{draw.choice('bcdfglmnprst')}{draw.choice('aeiou')}{n:x}" for n in range(5_000)]
    return [" ".join(draw.choices(words, k=draw.randrange(5, 40))) for _ in range(rows)]


def add_by_library(texts: list[str]) -> Took:
    """What `add_nodes` takes, the making of the drafts included."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "m.db", create=True) as store:
        watch = Stopwatch()
        add_nodes(
            store,
            (
                NodeDraft(text, type=NodeType.FACT, tier=Tier.TASK, metadata={"session_id": "s1", "tags": ["bulk"]})
                for text in texts
            ),
        )
        took = watch.took()
        if count_nodes(store, NodeFilter()) != len(texts):
            raise SystemExit("memories are missing")
    return took


def add_by_executemany(texts: list[str]) -> Took:
    """What the same rows take where they are ready, on a connection of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        open_store(path, create=True).close()
        now, metadata = now_ms(), '{"session_id": "s1", "tags": ["bulk"]}'
        rows = [(str(uuid4()), "fact", None, text, "task", 0.5, None, now, now, now, 0, metadata) for text in texts]
        with closing(apsw.Connection(str(path))) as conn:
            watch = Stopwatch()
            with conn:
                conn.executemany(_INSERT, rows)
            return watch.took()


if __name__ == "__main__":
    main()
