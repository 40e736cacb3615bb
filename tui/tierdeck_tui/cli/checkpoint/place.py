"""Where the checkpoints are: the option that every verb of theirs takes, and what it stands for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from tierdeck.errors import ReadOnlyStoreError
from tierdeck_tui.cli.path_argument import path_of
from tierdeck_tui.cli.run import Run

F = TypeVar("F", bound=Callable[..., Any])


def checkpoints_option(function: F) -> F:
    """The option `--checkpoints DIR`."""
    return click.option("--checkpoints", metavar="DIR", help="The folder that holds the sessions' checkpoints.")(
        function
    )


def use_checkpoints(run: Run, given: str | None) -> Path:
    """The folder that is meant: what was given after the verb, before it, or the environment's or usual one."""
    from tierdeck.checkpoint.folder import checkpoints_root  # not for `tierdeck checkpoint --help`

    run.checkpoints = given or run.checkpoints
    return checkpoints_root(path_of(run.checkpoints) if run.checkpoints is not None else None)


def root_to_change(run: Run, given: str | None, doing: str) -> Path:
    """The folder, for a verb that writes there.

    Raises:
        ReadOnlyStoreError: `--read-only` was given.
    """
    root = use_checkpoints(run, given)
    if run.read_only:
        raise ReadOnlyStoreError(f"{doing} in {root}: --read-only was given", hint="leave it out")
    return root
