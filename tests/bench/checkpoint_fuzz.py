"""The fuzzer of the tests, for as long as you like: changed checkpoint files, none of which may do harm.

    python -m tests.bench.checkpoint_fuzz [count] [seed]

It ends with what became of them; an assertion or an error that is none of ours ends it early.
"""

from __future__ import annotations

import sys

from tests.tierdeck.checkpoint.file.fuzzing import Fuzzer

_STEP = 10_000


def main() -> None:
    """Run it and print the outcomes."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    fuzzer = Fuzzer(seed)
    for done in range(0, count, _STEP):
        fuzzer.run(min(_STEP, count - done))
    for outcome, times in fuzzer.outcomes.most_common():
        print(f"{times:>9,}  {outcome}")


if __name__ == "__main__":
    main()
