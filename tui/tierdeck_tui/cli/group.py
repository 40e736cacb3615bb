"""The root command: options, the list of verbs, and the console when no verb is given."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from tierdeck_tui.cli.frame import EXIT_CODES, run_framed
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import store_options, take_store_options
from tierdeck_tui.cli.verb_table import VERBS

_COMPLETE_VARIABLE = "_TIERDECK_COMPLETE"
_BY_NAME = {entry.name: entry for entry in VERBS}


class Root(click.Group):
    """The `tierdeck` command. A verb's module is imported when the verb is called, never for the list."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs in the order of the help."""
        return list(_BY_NAME)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The verb's command, imported now; None for an unknown one."""
        entry = _BY_NAME.get(cmd_name)
        if entry is None:
            return None
        found = getattr(import_module(f"tierdeck_tui.cli.{entry.module}"), f"{cmd_name.replace('-', '_')}_verb")
        assert isinstance(found, click.Command)  # noqa: S101 - narrows what import_module can't type
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the first argument names; an unknown one is refused with the nearest."""
        if args[0] not in _BY_NAME and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _BY_NAME, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            ctx.fail(f"run {args[0][:40]}: there is no such verb{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of verbs under their headings, without importing one."""
        for heading in dict.fromkeys(entry.heading for entry in VERBS):
            with formatter.section(heading):
                formatter.write_dl([(entry.name, entry.about) for entry in VERBS if entry.heading == heading])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The verbs and options that begin so, without importing a verb."""
        named = [CompletionItem(e.name, help=e.about) for e in VERBS if e.name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

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


def _root(*, version: bool, is_json: bool, **shared: Any) -> int:
    """The memory of long-running LLM agents, in the terminal.

    Without a verb it opens the console.
    """
    ctx = click.get_current_context()
    run = ctx.ensure_object(Run)
    run.is_json = is_json
    take_store_options(run, shared)
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
    callback=_root,
    help=_root.__doc__,
    invoke_without_command=True,
    params=[
        *store_options(is_root=True),
        click.Option(["--json", "is_json"], is_flag=True, help="One JSON document on stdout; each verb takes it."),
        click.Option(
            ["--version"], is_flag=True, help="Show the versions of tierdeck, Python, SQLite and sqlite-vec."
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
