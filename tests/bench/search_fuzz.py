"""The query fuzzer of the tests, for as long as you like: random texts, none of which may fail or miss a word.

    python -m tests.bench.search_fuzz [count] [seed]

It ends with what became of them; an assertion or an error ends it early. Half of them are asked before the index
of extra terms is there, half with it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.tierdeck.search.query_fuzzing import QueryFuzzer
from tierdeck.store import open_store
from tierdeck.terms.fill import fill_terms


def main() -> None:
    """Run it and print the outcomes."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "memory.db", create=True) as store:
        fuzzer = QueryFuzzer(store, seed)
        fuzzer.run(count // 2)
        fill_terms(store)
        fuzzer.run(count - count // 2)
    for outcome, times in fuzzer.outcomes.most_common():
        print(f"{times:>9,}  {outcome}")


if __name__ == "__main__":
    main()
