"""Whether what was shown of a checkpoint is sealed with the operator's key; for the verbs that only look."""

from __future__ import annotations

from pathlib import Path

from tierdeck.checkpoint import CONSOLE_LIMITS
from tierdeck.checkpoint.folder import verify
from tierdeck.errors import CheckpointError
from tierdeck_tui.cli.output import talk
from tierdeck_tui.cli.progress import ProgressBar


def seal_code(path: Path, key: bytes | None) -> int:
    """The exit code for a file that was looked at: 0 without a key, or when its seal was made with it.

    Without a key nothing more is read: looking needs none.
    """
    if key is None:
        return 0
    with ProgressBar(f"checking the seal of {path.name}") as bar:
        found = verify(path, CONSOLE_LIMITS, key=key, on_progress=bar.show)
    if found.state == "ok":
        return 0
    talk(f"not sealed with the key: {found.why or found.state}")
    return CheckpointError.exit_code
