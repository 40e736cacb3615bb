"""`tierdeck sessions` and `access`: which agents' sessions used memories, pulls and pushes apart."""

from __future__ import annotations

import click

from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.store import access_summary, get_node, resolve_id
from tierdeck.store.session_uses import session_uses, uses_of_node
from tierdeck_tui.cli.output import put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.format import count, counted
from tierdeck_tui.view.line import Piece, line
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.session_line import session_lines

_LIMIT = click.IntRange(min=1)


@click.command("sessions", cls=Verb)
@click.option("--project", metavar="NAME", help="Only of this project.")
@click.option("--agent", metavar="NAME", help="Only of this agent.")
@click.option("--limit", type=_LIMIT, default=50, show_default=True, metavar="N", help="How many at most.")
@click.pass_obj
def sessions_verb(run: Run, /, project: str | None, agent: str | None, limit: int) -> None:
    """List the sessions of agents, the latest begun first, with the memories they pulled and were pushed.

    A session that is part of another one counts with the one it all began with.
    """
    with run.open() as store:
        check_tracked(store)
        found = session_uses(store, project=project, agent=agent, limit_rows=limit)
    if run.is_json:
        put_json(masked_form({"sessions": found}, reveal=False))
    else:
        put_lines(each for use in found for each in session_lines(use, width_cells()))
    if not found:
        talk("no session is recorded" + (" of those" if project or agent else ""))


@click.command("access", cls=Verb)
@click.argument("node_id", metavar="ID")
@click.option("--limit", type=_LIMIT, default=50, show_default=True, metavar="N", help="How many sessions at most.")
@click.pass_obj
def access_verb(run: Run, /, node_id: str, limit: int) -> None:
    """Show who used a memory: pulls and pushes apart, by session, the latest first.

    Only pulls count for the rules. Other programs count their own way: the memory's own counter has both.
    """
    with run.open() as store:
        check_tracked(store)
        node = get_node(store, resolve_id(store, node_id))
        summary = access_summary(store, node.id)
        uses = uses_of_node(store, node.id, limit_rows=limit)
    if run.is_json:
        document = {"id": node.id, "summary": summary, "access_count": node.access_count, "sessions": uses}
        put_json(masked_form(document, reveal=False))
        return
    pulls = f"{counted(summary.pulls, 'pull')} recorded, in {counted(summary.roots, 'root session')}"
    other = f"{counted(summary.pushes, 'push', 'pushes')} · listed {count(summary.shown)}×"
    put_lines(
        [
            line(Piece(node.id, "muted")),
            line(Piece(pulls, "strong"), f" · {other}"),
            line(f"{count(node.access_count)} by the memory's own counter, which other programs raise too"),
            *(each for use in uses for each in session_lines(use, width_cells(), shows_last=True)),
        ]
    )
    if not uses:
        talk("no access to it is recorded")
