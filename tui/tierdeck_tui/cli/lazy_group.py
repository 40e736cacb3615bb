"""A group of verbs that stand in a table: the module of one is imported when it is called, never for the list."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.cli.verb_table import VerbEntry


class LazyGroup(click.Group):
    """A command whose first argument names one of `entries`; `near` of module `candidates` is its `near_verb`."""

    def __init__(self, *args: Any, entries: Sequence[VerbEntry] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._entries = {entry.name: entry for entry in entries}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs in the order of the help."""
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The verb's command, imported now; None for an unknown one."""
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        found = getattr(import_module(f"tierdeck_tui.cli.{entry.module}"), f"{cmd_name.replace('-', '_')}_verb")
        assert isinstance(found, click.Command)  # noqa: S101 - narrows what import_module can't type
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the first argument names; an unknown one is refused with the nearest."""
        if args[0] not in self._entries and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self._entries, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            ctx.fail(f"run {args[0][:40]}: there is no such verb{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of verbs under their headings, without importing one."""
        entries = self._entries.values()
        for heading in dict.fromkeys(entry.heading for entry in entries):
            with formatter.section(heading):
                formatter.write_dl([(entry.name, entry.about) for entry in entries if entry.heading == heading])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The verbs and options that begin so, without importing a verb."""
        entries = self._entries.values()
        named = [CompletionItem(e.name, help=e.about) for e in entries if e.name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]


class VerbGroup(Verb, LazyGroup):
    """A verb that has verbs of its own, such as `tierdeck checkpoint list`; takes the shared options as they do."""
