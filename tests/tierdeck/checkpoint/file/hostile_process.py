"""A process of its own that reads hostile bytes, and says how much memory that took at most.

    python -m tests.tierdeck.checkpoint.file.hostile_process FILE MEMORY_BYTES

Prints what became of them, and by how many bytes the process grew at its largest beyond what it had before, the
bytes themselves included.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import numpy as np

from tierdeck.checkpoint.values.budget import Budget
from tierdeck.checkpoint.values.decode import decode_unit
from tierdeck.errors import TierdeckError


def largest_bytes() -> int:
    """The most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Read, measure, print."""
    np.zeros(1)
    before = largest_bytes()
    raw = Path(sys.argv[1]).read_bytes()
    try:
        decode_unit(raw, form=0, budget=Budget(int(sys.argv[2])))
        said = "read"
    except TierdeckError as e:
        said = type(e).__name__
    print(said, largest_bytes() - before)


if __name__ == "__main__":
    main()
