"""Where the checkpoints are: the option that every verb of theirs takes, and what it stands for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from shlex import join, quote
from typing import Any, TypeVar

import click

from tierdeck.errors import InvalidValueError, ReadOnlyStoreError
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


def use_checkpoints(run: Run, given: str | None, *, may_be_made: bool = False) -> Path:
    """The folder that is meant: by the option after the verb or before it, the environment, the settings file.

    One that no option names need not be there yet: an agent makes it with its first checkpoint.

    Args:
        may_be_made: nor need one that an option names: the verb makes it, or goes without.

    Raises:
        ConfigError: the settings file or a variable is wrong.
        InvalidValueError: it names no path, a file, the folder of one session, or by an option nothing at all.
    """
    from tierdeck.checkpoint.folder import checkpoints_root  # not for `tierdeck checkpoint --help`

    note_checkpoints(run, given)
    folder = run.settings.checkpoints.folder
    root = checkpoints_root(path_of(folder) if folder else None)
    is_typed = run.loaded.origins["checkpoints.folder"].kind == "flag"
    _check_folder(root, must_be_there=is_typed and not may_be_made)
    return root


def _check_folder(root: Path, *, must_be_there: bool) -> None:
    """Refuse what would look like a folder without a session. Raises as `use_checkpoints`."""
    from tierdeck.checkpoint.folder.names import SUFFIX, is_session_folder_name

    if root.is_dir():
        resolved = root.resolve()
        if is_session_folder_name(resolved.name) and any(resolved.glob(f"*{SUFFIX}")):
            raise InvalidValueError(
                f"find checkpoints: {root} is the folder of one session",
                hint=f"give the folder that it lies in: --checkpoints {quote(str(resolved.parent))}",
            )
    elif root.is_file():
        is_one = root.name.endswith(SUFFIX)
        shows = f"a checkpoint is named without it: `tierdeck checkpoint show {quote(str(root))}`"
        raise InvalidValueError(
            f"find checkpoints: {root} is a file, not the folder of the sessions' folders",
            hint=shows if is_one else "--checkpoints names the folder that holds the sessions' folders",
        )
    elif must_be_there and not os.path.lexists(root):
        raise InvalidValueError(
            f"find checkpoints: there is no folder {root.absolute()}",
            hint="--checkpoints names the folder that holds the sessions' folders",
        )


def refuse_no_folder(run: Run) -> None:
    """Refuse what an option before any verb named when it can't be the folder; it need not be there yet.

    Raises:
        InvalidValueError: it is no path, a file, or the folder of one session.
    """
    if run.loaded.origins["checkpoints.folder"].kind == "flag":
        use_checkpoints(run, None, may_be_made=True)


def listing_command(root: Path, session: str | None = None) -> str:
    """The command that lists the sessions of a folder, or one's checkpoints, as it can be typed."""
    from tierdeck.checkpoint.folder import checkpoints_root

    words = ["tierdeck", "checkpoint", "list", *([] if session is None else [session])]
    if root != checkpoints_root():
        words += ["--checkpoints", str(root)]
    return f"`{join(words)}`"


def root_to_change(run: Run, given: str | None, doing: str, *, may_be_made: bool = False) -> Path:
    """The folder, for a verb that writes there. Args as `use_checkpoints`.

    Raises:
        ReadOnlyStoreError: `--read-only` was given.
    """
    root = use_checkpoints(run, given, may_be_made=may_be_made)
    if run.read_only:
        raise ReadOnlyStoreError(f"{doing} in {root}: --read-only was given", hint="leave it out")
    return root
