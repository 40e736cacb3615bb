"""Opens the console; the only way from the command line to Textual."""

from __future__ import annotations

from pathlib import Path

from tierdeck.errors import InvalidValueError
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import can_open_console


def open_console(run: Run, path: Path | None = None) -> int:
    """Show the console on the run's store, or on the one at `path`, until it is quit.

    Returns:
        The console's exit code.

    Raises:
        InvalidValueError: there is no terminal on stdin and stdout, or `--checkpoints` names no folder; nothing
            was opened.
        StoreError: the store can't be opened.
    """
    if not can_open_console():
        raise InvalidValueError(
            "open console: stdin or stdout is not a terminal",
            hint="use a verb: `tierdeck search WORDS`, `tierdeck show ID`; `tierdeck --help` lists them",
        )
    from tierdeck_tui.app import run_console
    from tierdeck_tui.cli.checkpoint.place import refuse_no_folder

    refuse_no_folder(run)
    return run_console(path or run.store_path, run.settings, run.read_only)
