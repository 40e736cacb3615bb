"""`tierdeck archive`, `restore` and `undo`: nothing here deletes, and each can be taken back."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tierdeck.store import archive_nodes, redo, resolve_id, restore_nodes, undo
from tierdeck_tui.cli.ids import ids_argument, resolved
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import counted


@click.command("archive", cls=Verb)
@ids_argument
@click.option("--reason", help="Why; it stands in the memory's history.")
@click.pass_obj
def archive_verb(run: Run, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Move memories to the archive: normal searches no longer show them, nothing of them is lost.

    Prints the ids that were moved. - reads ids from stdin; all move or none. `tierdeck undo ID` takes it back.
    """
    with run.open() as store:
        asked = resolved(store, ids)
        moved = archive_nodes(store, asked, actor=run.actor, reason=reason)
    _put_moved(run, asked, moved, "archived")


@click.command("restore", cls=Verb)
@ids_argument
@click.option("--reason", help="Why; it stands in the memory's history.")
@click.pass_obj
def restore_verb(run: Run, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Bring memories back from the archive, to the tier longterm.

    Prints the ids that were moved. - reads ids from stdin; all move or none. `tierdeck undo ID` of an archiving
    gives the old tier back instead.
    """
    with run.open() as store:
        asked = resolved(store, ids)
        moved = restore_nodes(store, asked, actor=run.actor, reason=reason)
    _put_moved(run, asked, moved, "restored")


@click.command("undo", cls=Verb)
@click.argument("node_id", metavar="ID")
@click.option("--revision", type=int, metavar="N", help="Take back this change, as `tierdeck show` numbers it.")
@click.option("--redo", "is_redo", is_flag=True, help="Take back the last undo instead.")
@click.pass_obj
def undo_verb(run: Run, /, node_id: str, revision: int | None, is_redo: bool) -> None:
    """Take back the last change of a memory: text, tier, times and fields as they were, byte for byte.

    The undo itself stands in the memory's history and can be taken back too.
    """
    if is_redo and revision is not None:
        raise click.UsageError("--redo and --revision exclude each other")
    with run.open() as store:
        full_id = resolve_id(store, node_id)
        if is_redo:
            made = redo(store, full_id, actor=run.actor)
        else:
            made = undo(store, full_id, actor=run.actor, revision_id=revision)
    if run.is_json:
        put_json({"revision": made})
    else:
        put(full_id)
    talk(f"took back change #{made.undoes}; this is change #{made.id}")


def _put_moved(run: Run, asked: Sequence[str], moved: Sequence[str], word: str) -> None:
    unchanged = [node_id for node_id in asked if node_id not in set(moved)]
    if run.is_json:
        put_json({word: moved, "unchanged": unchanged})
    elif moved:
        put("\n".join(moved))
    rest = f"; {len(unchanged)} stood so already" if unchanged else ""
    talk(f"{word} {counted(len(moved), 'memory', 'memories')}{rest}")
