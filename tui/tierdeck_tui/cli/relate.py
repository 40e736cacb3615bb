"""`tierdeck relate`: ties memories together, each in a role, and takes a tie out again."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tierdeck.errors import InvalidValueError
from tierdeck.model import Edge, EdgeType, Member
from tierdeck.store import Store, delete_edge, get_edge, relate, resolve_id
from tierdeck.store.relations import ROLES
from tierdeck_tui.cli.ask import confirm
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.verb import Verb

# The roles of the first memory and of the others where none is said.
_DEFAULT_ROLES = {
    EdgeType.RELATION: ("subject", "object"),
    EdgeType.COMPOSITION: ("subject", "participant"),
    EdgeType.CAUSATION: ("cause", "effect"),
    EdgeType.CONTEXT: ("subject", "context"),
}


@click.command("relate", cls=Verb)
@click.argument("members", nargs=-1, metavar="[ID[:ROLE]]...")
@click.option(
    "--type",
    "edge_type",
    type=click.Choice([each.value for each in EdgeType]),
    default=EdgeType.RELATION.value,
    help="What kind of bond.",
    show_default=True,
)
@click.option("--label", help="What ties them, free text.")
@click.option("--weight", type=float, default=1.0, show_default=True, metavar="N", help="Its strength, 0 or more.")
@click.option("--remove", metavar="RELATION", help="Take this relation out, by its id from `tierdeck show`.")
@click.option("--yes", is_flag=True, help="Do not ask before taking out.")
@click.pass_obj
def relate_verb(
    run: Run,
    /,
    members: tuple[str, ...],
    edge_type: str,
    label: str | None,
    weight: float,
    remove: str | None,
    yes: bool,
) -> None:
    """Tie two or more memories together and print the relation's id.

    A ROLE is subject, object, context, participant, cause or effect; without one the type decides: of a causation
    the first memory is the cause, the others are effects.
    """
    if remove is not None:
        _remove(run, remove, members, is_sure=yes)
        return
    with run.open() as store:
        made = relate(store, EdgeType(edge_type), _members(store, members, edge_type), label=label, weight=weight)
    _put_edge(run, made)
    talk(f"related {len(made.members)} memories")


def _remove(run: Run, edge_id: str, members: Sequence[str], *, is_sure: bool) -> None:
    if members:
        raise click.UsageError("--remove takes no memories")
    with run.open() as store:
        edge = get_edge(store, edge_id)
        question = f"take out this {edge.type.value} of {len(edge.members)} memories? It can't be undone; they stay"
        confirm("take out relation", question, is_sure=is_sure)
        gone = delete_edge(store, edge.id)
    _put_edge(run, gone)
    talk("took the relation out; the memories stay")


def _members(store: Store, given: Sequence[str], edge_type: str) -> list[Member]:
    if len(given) < 2:
        raise InvalidValueError("relate memories: fewer than two were given", hint="`tierdeck relate ID ID`")
    first, other = _DEFAULT_ROLES[EdgeType(edge_type)]
    found = []
    for position, text in enumerate(given):
        node_id, role = _split(text)
        found.append(Member(resolve_id(store, node_id), role or (other if position else first), position))
    return found


def _split(text: str) -> tuple[str, str | None]:
    """Id and role; a colon that no known role follows belongs to the id, as other programs' ids may have one."""
    node_id, colon, role = text.rpartition(":")
    return (node_id, role) if colon and role in ROLES else (text, None)


def _put_edge(run: Run, edge: Edge) -> None:
    if run.is_json:
        put_json({"relation": edge})
    else:
        put(edge.id)
