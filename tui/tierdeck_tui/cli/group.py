"""The root command: options, the list of verbs, and the console when no verb is given."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from tierdeck_tui.cli.frame import EXIT_CODES, run_framed
from tierdeck_tui.cli.lazy_group import LazyGroup
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import store_options, take_store_options
from tierdeck_tui.cli.verb_table import VERBS

_COMPLETE_VARIABLE = "_TIERDECK_COMPLETE"


class Root(LazyGroup):
    """The `tierdeck` command."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES])

    def main(  # type: ignore[override]  # always ends the process, as click's standalone mode does
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a command line and end the process with its exit code."""
        given = sys.argv[1:] if args is None else list(args)
        if os.environ.get(_COMPLETE_VARIABLE):
            super().main(given, "tierdeck", _COMPLETE_VARIABLE)
        extra.pop("standalone_mode", None)
        sys.exit(run_framed(lambda: self._invoke(given, prog_name or "tierdeck", extra), given))

    def _invoke(self, args: list[str], prog_name: str, extra: dict[str, Any]) -> int:
        with self.make_context(prog_name, args, **extra) as ctx:
            code = self.invoke(ctx)
        return code if isinstance(code, int) else 0


def _root(*, version: bool, is_json: bool, checkpoints: str | None, key_file: str | None, **shared: Any) -> int:
    """The memory of long-running LLM agents, in the terminal.

    Without a verb it opens the console.
    """
    ctx = click.get_current_context()
    run = ctx.ensure_object(Run)
    run.is_json = is_json
    take_store_options(run, shared)
    run.use_flag("checkpoints.folder", checkpoints, "--checkpoints")
    run.use_flag("checkpoints.key_file", key_file, "--key-file")
    if version:
        from tierdeck_tui.cli.version import put_versions

        put_versions(is_json=is_json)
        ctx.exit()
    if ctx.invoked_subcommand is not None:
        return 0
    from tierdeck_tui.cli.console import open_console

    return open_console(run)


cli = Root(
    name="tierdeck",
    entries=VERBS,
    callback=_root,
    help=_root.__doc__,
    invoke_without_command=True,
    params=[
        *store_options(is_root=True),
        click.Option(
            ["--checkpoints"], metavar="DIR", help="The folder of sessions' checkpoints; for the console too."
        ),
        click.Option(
            ["--key-file"], metavar="FILE", help="The file with the key that checkpoints are sealed with."
        ),
        click.Option(["--json", "is_json"], is_flag=True, help="One JSON document on stdout; each verb takes it."),
        click.Option(
            ["--version"], is_flag=True, help="Show the versions of tierdeck, Python, SQLite and sqlite-vec."
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
