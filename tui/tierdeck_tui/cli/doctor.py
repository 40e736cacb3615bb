"""`tierdeck doctor`: the store looked over, and what can be mended, mended."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tierdeck.errors import (
    EXIT_PARTLY_DONE,
    DamagedStoreError,
    NotAStoreError,
    SchemaVersionError,
    StoreBusyError,
)
from tierdeck.maintenance.doctor import examine, examine_file
from tierdeck.maintenance.health import CheckState, Health
from tierdeck.maintenance.repair import REPAIRS, repair
from tierdeck_tui.cli.output import put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.excerpt import masked_pieces
from tierdeck_tui.view.line import Line, Piece, Role, line
from tierdeck_tui.view.masked import masked_form

_ROLES: dict[CheckState, Role] = {"ok": "good", "info": "muted", "warn": "warning", "bad": "error"}


@click.command("doctor", cls=Verb)
@click.option(
    "--repair",
    "names",
    multiple=True,
    type=click.Choice(list(REPAIRS)),
    help="Mend this; a store is backed up before it is changed. Repeatable.",
)
@click.option("--thorough", is_flag=True, help="Also read every index and look for secrets in every memory.")
@click.pass_obj
def doctor_verb(run: Run, /, names: tuple[str, ...], thorough: bool) -> int:
    """Examine the store: driver and versions, file system, schema, search index, rows, vectors, sizes.

    Changes nothing without --repair. Ends with 10 when something is bad.
    """
    if names:
        _repair(run, names)
    health = _examined(run, is_thorough=thorough)
    if run.is_json:
        put_json(masked_form({"state": health.state, "health": health}, reveal=False))
    else:
        put_lines(_lines(health))
    return EXIT_PARTLY_DONE if health.state == "bad" else 0


def _examined(run: Run, *, is_thorough: bool) -> Health:
    try:
        # As every other verb opens it: a store opened for reading alone has its index file elsewhere.
        with run.open() as store:
            return examine(store, run.settings.embedding, is_thorough=is_thorough)
    except (DamagedStoreError, NotAStoreError, SchemaVersionError, StoreBusyError):
        return examine_file(run.store_path, run.settings.embedding, is_thorough=is_thorough)


def _repair(run: Run, names: tuple[str, ...]) -> None:
    with run.open() as store:
        report = repair(store, names, actor=run.actor)
    if report.backup is not None:
        talk(f"the backup is {report.backup}")
    for name, done in report.done:
        talk(f"{name}: {done}")


def _lines(health: Health) -> Iterator[Line]:
    kind = f" ({health.kind.value})" if health.kind else ""
    yield line(Piece(f"{health.path}{kind}", "strong"))
    names = max(len(check.name) for check in health.checks)
    for check in health.checks:
        head = Piece(check.state.ljust(4), _ROLES[check.state])
        yield line(head, f"  {check.name.ljust(names)}  ", *masked_pieces(check.text, reveal=False))
        for detail in check.details:
            yield line(" " * (names + 8), *masked_pieces(detail, reveal=False))
        if check.fix:
            yield line(" " * (names + 8), Piece(f"→ {check.fix}", "strong"))
