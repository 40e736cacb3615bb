"""Searches while another program changes 10,000 memories and two indexers follow: every answer of one moment.

    python -m tests.bench.search_churn [changes] [seed] [--rows N] [--way own|adopted|foreign]

`own`: a store of ours, changed through the library; `adopted`, `foreign`: the family's, changed by plain sqlite3.
An assertion ends it where a row, a filter, a vector or a pair of memories that change together is of two moments,
where a text is paid for twice, or where bits or terms are not in the end what a rebuild would make.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import pytest

from tests.tierdeck.conftest import TEST_KEY
from tests.tierdeck.search.churn.trial import Trial, run_trial
from tests.tierdeck.vectors.few_bits import begin_early

WAYS = ("own", "adopted", "foreign")


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("changes", type=int, nargs="?", default=10_000)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--way", choices=WAYS, action="append")
    asked = parser.parse_args()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", TEST_KEY)
        begin_early(patch)
        for way in asked.way or WAYS:
            with tempfile.TemporaryDirectory() as folder:
                patch.setenv("XDG_CACHE_HOME", folder)  # where the index of a foreign store lies
                seen = run_trial(Trial(way, asked.changes, asked.rows, asked.seed), Path(folder))
            print(
                f"{way}: {asked.changes:,} changes in {seen.seconds:.0f} s; {seen.rows:,} memories in the end, ",
                end="",
            )
            print(f"{seen.texts_sent:,} texts sent, none twice; bits and terms as a rebuild makes them")
            for what, times in seen.seen.most_common():
                print(f"{times:>11,}  {what}", flush=True)


if __name__ == "__main__":
    main()
