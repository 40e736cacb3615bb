"""A verb as click knows it: takes `--json` without saying so, and the root's options after its name too."""

from __future__ import annotations

from typing import Any

import click

from tierdeck_tui.cli.run import Run

_PATH = click.Path(path_type=str, readable=False)  # whether it can be read is judged where it is opened


def store_options(*, is_root: bool) -> list[click.Parameter]:
    """The options that every verb shares with the root; shown in the root's help only."""
    return [
        click.Option(["--db"], type=_PATH, metavar="FILE", hidden=not is_root, help="The memory store."),
        click.Option(["--config"], type=_PATH, metavar="FILE", hidden=not is_root, help="The settings file."),
        click.Option(["--read-only"], is_flag=True, hidden=not is_root, help="Refuse every write to the store."),
        click.Option(["--debug"], is_flag=True, hidden=not is_root, help="Show the traceback of an error."),
    ]


def take_store_options(run: Run, params: dict[str, Any]) -> None:
    """Move the shared options from what click parsed into the run; what is said after the verb wins."""
    run.db = params.pop("db", None) or run.db
    run.config = params.pop("config", None) or run.config
    run.read_only = params.pop("read_only", False) or run.read_only
    run.debug = params.pop("debug", False) or run.debug


class Verb(click.Command):
    """A command of ours; its callback takes the `Run` first, then its own parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(click.Option(["--json", "is_json"], is_flag=True, help="One JSON document on stdout."))
        self.params.extend(store_options(is_root=False))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb with the shared options already in its `Run`."""
        run = ctx.ensure_object(Run)
        run.is_json = ctx.params.pop("is_json") or run.is_json
        take_store_options(run, ctx.params)
        return super().invoke(ctx)
