"""`tierdeck demo`: a made-up store in a temporary folder, and the console on it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from tierdeck.demo.build import build_demo

from tierdeck.errors import InvalidValueError
from tierdeck_tui.cli.console import open_console
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import can_open_console
from tierdeck_tui.cli.verb import Verb

_STORE_NAME = "memory.db"


@click.command("demo", cls=Verb)
@click.option("--keep", metavar="DIR", help="Make the store in this folder and leave it there.")
@click.pass_obj
def demo_verb(run: Run, /, keep: str | None) -> int:
    """Make the memory of a coding agent over 14 sessions and open the console on it.

    Needs no network, key or model. Without a terminal, and with --json, it prints what it made instead.
    """
    with _folder(keep) as folder:
        path = folder / _STORE_NAME
        if path.exists():
            raise InvalidValueError(f"make demo in {folder}: {path} exists", hint="name an empty folder")
        summary = build_demo(path)
        if keep is not None:
            talk(f"the demo store is {path}")
        if run.is_json:
            put_json({"path": path if keep else None, "summary": summary})
            return 0
        if can_open_console():
            return open_console(run, path)
        put(str(summary))
    return 0


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    if keep is not None:
        folder = Path(keep).expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="tierdeck-demo-", ignore_cleanup_errors=True) as made:
        yield Path(made)
