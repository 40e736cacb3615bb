"""The kills of the tests, for as long as you like: `kill -9` during saves, every file looked at after each.

python -m tests.bench.checkpoint_kills [count] [seed]

It ends with how many half written files they left; an assertion or an error ends it early.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.tierdeck.checkpoint.folder.killing import kill_during_saves


def main() -> None:
    """Run it and print the outcome."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder:
        cut = kill_during_saves(Path(folder), count, seed)
    print(f"{count} kills left {cut} half written files; all others are whole, and the newest is found")


if __name__ == "__main__":
    main()
