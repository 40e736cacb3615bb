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


def key_option(function: F) -> F:
    """The option `--key-file FILE`. The key itself is never typed: it would stand in the list of processes."""
    return click.option(
        "--key-file", metavar="FILE", help="The file with the key that the checkpoints are sealed with."
    )(function)


def use_key(run: Run, given: str | None) -> bytes | None:
    """The operator's key: in the file that the option, the environment or the settings file names; None without.

    Called after `use_checkpoints`, whose flag would come too late once the settings were read.

    Raises:
        ConfigError: the settings file or a variable is wrong.
        CheckpointKeyError: the file can't be read, others can read it, or it holds no key.
    """
    from tierdeck.checkpoint.file.key_file import key_named, read_key_file

    if given is not None:
        return read_key_file(path_of(given))
    return key_named(run.settings.checkpoints.key_file)


def note_checkpoints(run: Run, given: str | None) -> None:
    """Have what the option said stand over the setting; what is said last wins."""
    run.use_flag("checkpoints.folder", given, "--checkpoints")


def use_checkpoints(run: Run, given: str | None) -> Path:
    """The folder that is meant: by the option after the verb or before it, the environment, the settings file.

    Raises:
        ConfigError: the settings file or a variable is wrong.
        InvalidValueError: it names no path.
    """
    from tierdeck.checkpoint.folder import checkpoints_root  # not for `tierdeck checkpoint --help`

    note_checkpoints(run, given)
    folder = run.settings.checkpoints.folder
    return checkpoints_root(path_of(folder) if folder else None)


def root_to_change(run: Run, given: str | None, doing: str) -> Path:
    """The folder, for a verb that writes there.

    Raises:
        ReadOnlyStoreError: `--read-only` was given.
    """
    root = use_checkpoints(run, given)
    if run.read_only:
        raise ReadOnlyStoreError(f"{doing} in {root}: --read-only was given", hint="leave it out")
    return root
