"""`tierdeck archive` and `restore`: nothing here deletes, and each can be taken back."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tierdeck.promote.moves.chunks import Pace
from tierdeck.promote.moves.override import archive_nodes, restore_nodes
from tierdeck_tui.cli.frame import STOPPED
from tierdeck_tui.cli.ids import ids_argument, resolved
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.progress import ProgressBar
from tierdeck_tui.cli.report import stopped_words
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.stop_flag import stop_flag
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import counted


@click.command("archive", cls=Verb)
@ids_argument
@click.option("--reason", help="Why; it stands in the memory's history.")
@click.pass_obj
def archive_verb(run: Run, /, ids: tuple[str, ...], reason: str | None) -> int:
    """Move memories to the archive: normal searches no longer show them, nothing of them is lost.

    Prints the ids that were moved. - reads ids from stdin. Ctrl+C stops between two chunks; the same
    command again does the rest. `tierdeck undo ID` takes it back.
    """
    with run.open() as store:
        asked = resolved(store, ids)
        with stop_flag() as should_stop, ProgressBar("moving") as bar:
            pace = Pace(bar.show, should_stop)
            moved = archive_nodes(store, asked, actor=run.actor, reason=reason, pace=pace)
    return _put_moved(run, asked, moved, "archived", is_stopped=should_stop())


@click.command("restore", cls=Verb)
@ids_argument
@click.option("--reason", help="Why; it stands in the memory's history.")
@click.pass_obj
def restore_verb(run: Run, /, ids: tuple[str, ...], reason: str | None) -> int:
    """Bring memories back from the archive, to the tier longterm.

    Prints the ids that were moved. - reads ids from stdin. Ctrl+C stops between two chunks; the same
    command again does the rest. `tierdeck undo ID` of an archiving gives the old tier back instead.
    """
    with run.open() as store:
        asked = resolved(store, ids)
        with stop_flag() as should_stop, ProgressBar("moving") as bar:
            pace = Pace(bar.show, should_stop)
            moved = restore_nodes(store, asked, actor=run.actor, reason=reason, pace=pace)
    return _put_moved(run, asked, moved, "restored", is_stopped=should_stop())


def _put_moved(run: Run, asked: Sequence[str], moved: Sequence[str], word: str, *, is_stopped: bool) -> int:
    done = frozenset(moved)
    unchanged = [] if is_stopped else [node_id for node_id in asked if node_id not in done]
    if run.is_json:
        put_json({word: moved, "unchanged": unchanged})
    elif moved:
        put("\n".join(moved))
    rest = f"; {len(unchanged)} stood so already" if unchanged else ""
    talk(f"{word} {counted(len(moved), 'memory', 'memories')}{rest}")
    if not is_stopped:
        return 0
    talk(stopped_words(word))
    return STOPPED
