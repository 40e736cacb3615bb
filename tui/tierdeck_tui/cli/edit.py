"""`tierdeck edit`: a memory's text and fields; what stood there before can be brought back by `undo`."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import click

from tierdeck.errors import ConflictError, InvalidValueError, TierdeckError
from tierdeck.model import Node, NodeChanges, NodeType
from tierdeck.store import Store, edit_node, get_node, resolve_id
from tierdeck_tui.cli.metadata_options import metadata_of, metadata_options
from tierdeck_tui.cli.output import put, put_json, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import can_open_console
from tierdeck_tui.cli.text_source import read_text
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.masked import masked_form


@click.command("edit", cls=Verb)
@click.argument("node_id", metavar="ID")
@click.option("--content", metavar="TEXT", help="The new text; - reads stdin.")
@click.option("--file", metavar="FILE", help="Read the new text from a file.")
@click.option("--type", "node_type", type=click.Choice([each.value for each in NodeType]), help="Another type.")
@click.option("--confidence", type=float, metavar="N", help="0 to 1.")
@click.option("--subtype", help="A finer kind; empty takes it out.")
@click.option("--provenance", help="Where it comes from; empty takes it out.")
@metadata_options
@click.option("--unset", multiple=True, metavar="KEY", help="Take this metadata out. Repeatable.")
@click.option("--untag", multiple=True, metavar="TAG", help="Take this tag out. Repeatable.")
@click.option("--reason", help="Why; it stands in the memory's history.")
@click.pass_obj
def edit_verb(run: Run, /, node_id: str, reason: str | None, **fields: Any) -> None:
    """Change a memory's text or fields; without any option open its text in $EDITOR.

    `tierdeck undo ID` takes the change back.
    """
    with run.open() as store:
        full_id = resolve_id(store, node_id)
        before = get_node(store, full_id)
        if all(value in (None, ()) for value in fields.values()):
            after = _in_editor(run, store, before, reason)
        else:
            after = edit_node(store, full_id, _changes(before, **fields), actor=run.actor, reason=reason)
    if run.is_json:
        put_json(masked_form({"changed": after != before, "memory": after}, reveal=False))
    else:
        put(after.id)
    talk("changed" if after != before else "nothing differs; nothing was changed")


def _changes(
    before: Node,
    *,
    content: str | None,
    file: str | None,
    node_type: str | None,
    confidence: float | None,
    subtype: str | None,
    provenance: str | None,
    meta: tuple[str, ...],
    tag: tuple[str, ...],
    metadata: str | None,
    unset: tuple[str, ...],
    untag: tuple[str, ...],
) -> NodeChanges:
    touches_metadata = bool(meta or tag or metadata is not None or unset or untag)
    return NodeChanges(
        content=read_text(content, file),
        type=None if node_type is None else NodeType(node_type),
        subtype=subtype,
        confidence=confidence,
        provenance=provenance,
        metadata=metadata_of(before.metadata, metadata, meta, tag, without=unset, untag=untag)
        if touches_metadata
        else None,
    )


def _in_editor(run: Run, store: Store, before: Node, reason: str | None) -> Node:
    """The memory after its text was changed in the editor. What was written there is never lost to an error."""
    if not can_open_console():
        raise InvalidValueError(
            f"edit memory {before.short_id}: nothing to change was given, and there is no terminal for an editor",
            hint="--content TEXT, --content - for stdin, or a field; `tierdeck edit --help` lists them",
        )
    with store.writing():  # a store that can't be written is refused before anybody types
        pass
    written = click.edit(before.content, extension=".txt", require_save=True)
    if written is None:
        return before
    text = written if before.content.endswith("\n") else written.removesuffix("\n")
    try:
        if get_node(store, before.id).content != before.content:
            raise ConflictError(
                f"edit memory {before.short_id}: its text was changed meanwhile; nothing was written"
            )
        return edit_node(store, before.id, NodeChanges(content=text), actor=run.actor, reason=reason)
    except TierdeckError as e:
        e.hint = f"what you wrote is kept in {_kept(text)}"
        raise


def _kept(text: str) -> str:
    handle, path = tempfile.mkstemp(prefix="tierdeck-edit-", suffix=".txt")  # 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return path
