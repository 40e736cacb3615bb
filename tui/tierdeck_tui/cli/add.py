"""`tierdeck add`: one memory, from an argument, stdin or a file."""

from __future__ import annotations

import click

from tierdeck.errors import InvalidValueError
from tierdeck.model import NodeDraft, NodeType, Tier
from tierdeck.secret_scan import has_secret
from tierdeck.store import add_node
from tierdeck_tui.cli.metadata_options import metadata_of, metadata_options
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.text_source import read_text
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.masked import masked_form

_DEFAULTS = NodeDraft("")


@click.command("add", cls=Verb)
@click.argument("text", required=False)
@click.option("--file", metavar="FILE", help="Read the text from a file.")
@click.option(
    "--type",
    "node_type",
    type=click.Choice([each.value for each in NodeType]),
    default=_DEFAULTS.type.value,
    help="What it is.",
    show_default=True,
)
@click.option(
    "--tier",
    type=click.Choice([each.value for each in Tier]),
    default=_DEFAULTS.tier.value,
    show_default=True,
    help="How long it is meant to live.",
)
@click.option(
    "--confidence", type=float, default=_DEFAULTS.confidence, show_default=True, metavar="N", help="0 to 1."
)
@click.option("--subtype", help="A finer kind, free text.")
@click.option("--provenance", help="Where it comes from, free text.")
@metadata_options
@click.option("--no-embedding", is_flag=True, help="Never embed it: it is found by word only, and sent nowhere.")
@click.pass_obj
def add_verb(
    run: Run,
    /,
    text: str | None,
    file: str | None,
    node_type: str,
    tier: str,
    confidence: float,
    subtype: str | None,
    provenance: str | None,
    meta: tuple[str, ...],
    tag: tuple[str, ...],
    metadata: str | None,
    no_embedding: bool,
) -> None:
    """Add a memory and print its id. TEXT - reads stdin; the store is made when there is none.

    Of stdin and of a file the one last newline is left out.
    """
    content = read_text(text, file)
    if content is None:
        raise InvalidValueError("add memory: no text was given", hint="give a TEXT, - for stdin, or --file FILE")
    draft = NodeDraft(
        content,
        type=NodeType(node_type),
        tier=Tier(tier),
        confidence=confidence,
        subtype=subtype,
        provenance=provenance,
        metadata=metadata_of({}, metadata, meta, tag),
        compute_embedding=not no_embedding,
    )
    with run.open(create=True) as store:
        node = add_node(store, draft)
    if run.is_json:
        put_json(masked_form({"memory": node}, reveal=False))
    else:
        put(node.id)
    if has_secret(content):
        talk("it looks as if it holds a secret: lists mask it, and it is not sent to a remote model")
