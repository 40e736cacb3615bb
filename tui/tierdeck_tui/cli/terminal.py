"""What the terminal can do: whether there is one, how wide it is, whether it may have colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import IO

_PIPE_CELLS = 100


def is_interactive() -> bool:
    """Whether a person can be asked: both stdin and stderr are a terminal (stdout may be a pipe)."""
    return _is_terminal(sys.stdin) and _is_terminal(sys.stderr)


def can_open_console() -> bool:
    """Whether the console can be shown: without a terminal on both sides it would paint and hang."""
    return _is_terminal(sys.stdin) and _is_terminal(sys.stdout)


def shows_progress() -> bool:
    """Whether long work may draw a bar on stderr: a terminal that can go back over its line."""
    return _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"


def has_colour() -> bool:
    """Whether stdout takes colours: a terminal, not a dumb one, and NO_COLOR is not set to anything."""
    return _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width_cells() -> int:
    """The cells of a line of output; 100 where it goes into a pipe or file."""
    if not _is_terminal(sys.stdout):
        return _PIPE_CELLS
    return max(shutil.get_terminal_size((80, 24)).columns, 20)


def _is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
