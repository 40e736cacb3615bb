"""The query fuzzer of the tests, for as long as you like: random texts, none of which may fail or miss a word.

    python -m tests.bench.search_fuzz [count] [seed] [--large]

It ends with what became of them; an assertion or an error ends it early. Half of them are asked before the index
of extra terms is there, half with it. `--large` has the store searched as those of more than 20,000 memories are.
A tenth of 100,000 takes two to three minutes; how far it is goes to stderr.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.tierdeck.search.query_fuzzing import QueryFuzzer
from tierdeck.search.rows import word_counts
from tierdeck.store import open_store
from tierdeck.terms.fill import fill_terms

EVERY = 5_000


def main() -> None:
    """Run it and print the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    count, seed = given.count, given.seed
    if given.large:
        word_counts.LARGE_FROM_ROWS = 100
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "memory.db", create=True) as store:
        fuzzer = QueryFuzzer(store, seed)
        _run(fuzzer, count // 2, "without terms")
        fill_terms(store)
        _run(fuzzer, count - count // 2, "with terms")
    for outcome, times in fuzzer.outcomes.most_common():
        print(f"{times:>9,}  {outcome}")


def _run(fuzzer: QueryFuzzer, count: int, how: str) -> None:
    for first in range(0, count, EVERY):
        last = min(first + EVERY, count)
        fuzzer.run(last - first)
        print(f"{last:,} of {count:,} {how}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
