"""`tierdeck adopt` and `unadopt`: another program's store taken into use, and given back as it was."""

from __future__ import annotations

import click

from tierdeck.maintenance.adopt import adopt, adoptable_kind, preview_unadopt, unadopt
from tierdeck.migrate import StoreKind
from tierdeck_tui.cli.ask import confirm
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb


@click.command("adopt", cls=Verb)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def adopt_verb(run: Run, /, yes: bool) -> None:
    """Make another program's store writable: back it up, then add our tables (td_...) and nothing else.

    That program goes on working in it. `tierdeck unadopt` takes the tables out again.
    """
    run.refuse_read_only("adopt")
    if adoptable_kind(run.store_path) is StoreKind.FOREIGN:
        question = f"add tierdeck's tables to {run.store_path}? A backup is made first"
        confirm("adopt store", question, is_sure=yes)
    report = adopt(run.store_path)
    if run.is_json:
        put_json({"adopted": report, "was_adopted": report.was_adopted})
    else:
        put(str(report.path))
    if report.was_adopted:
        talk("it was adopted before; nothing was changed")
        return
    talk(f"added {', '.join(report.tables)}")
    talk(f"the backup is {report.backup}")
    if report.index is not None:
        talk(f"its vectors now lie in {report.index}")


@click.command("unadopt", cls=Verb)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def unadopt_verb(run: Run, /, yes: bool) -> None:
    """Take our tables out of another program's store, after a backup; its memories stay as they are now."""
    run.refuse_read_only("unadopt")
    preview = preview_unadopt(run.store_path)
    if preview.is_adopted:
        if preview.losses:
            talk("what goes with the tables:")
        for loss in preview.losses:
            talk(f"  {loss}")
        question = f"take tierdeck's tables out of {run.store_path}? A backup is made first"
        confirm("unadopt store", question, is_sure=yes)
    report = unadopt(run.store_path)
    if run.is_json:
        put_json({"unadopted": report, "was_adopted": preview.is_adopted})
    else:
        put(str(report.path))
    if report.backup is None:
        talk("it was not adopted; nothing was changed")
        return
    talk(f"took out {', '.join(report.removed)}")
    talk(f"the backup is {report.backup}")
