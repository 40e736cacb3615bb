"""`tierdeck show`: everything known about memories, as the console's detail pane has it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tierdeck.promote.rules import rules_of
from tierdeck.secret_scan import has_secret
from tierdeck.store import edges_of
from tierdeck.times import now_ms
from tierdeck_tui.cli.ids import ids_argument, resolved
from tierdeck_tui.cli.output import put_json, put_lines, talk
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.reading.memory_facts import MemoryFacts, read_memory_facts
from tierdeck_tui.view.detail_lines import detail_text
from tierdeck_tui.view.excerpt import excerpt_line
from tierdeck_tui.view.format import short_number
from tierdeck_tui.view.line import Line, Piece, line
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.promotion.decision_form import decision_form
from tierdeck_tui.view.sanitise import visible

_ROLE_CELLS, _ID_CELLS = 12, 8


@click.command("show", cls=Verb)
@ids_argument
@click.option("--reveal", is_flag=True, help="Show what looks like a secret.")
@click.pass_obj
def show_verb(run: Run, /, ids: tuple[str, ...], reveal: bool) -> None:
    """Show memories: text, metadata, relations, accesses, tier history with who and why, confidence, changes.

    An ID may be short where it fits one memory only; - reads ids from stdin, one a line.
    """
    with run.open() as store:
        rules = rules_of(run.settings.promotion)
        facts = [read_memory_facts(store, node_id, rules) for node_id in resolved(store, ids)]
        if run.is_json:
            edges = [edges_of(store, each.node.id) for each in facts]
            documents = [{**_document(each), "relations": own} for each, own in zip(facts, edges, strict=True)]
            put_json(masked_form({"memories": documents}, reveal=reveal))
        else:
            put_lines(_lines(facts, width_cells(), reveal=reveal))
    if not reveal and any(has_secret(each.node.content) for each in facts):
        talk("what looks like a secret is hidden; --reveal shows it")


def _document(facts: MemoryFacts) -> dict[str, object]:
    told = facts.explanation
    return {
        "memory": facts.node,
        "access_summary": facts.summary,
        "accesses": facts.accesses,
        "tier_moves": facts.moves,
        "promotion_log": told.history if told else (),
        "decision": decision_form(told.decision) if told else None,
        "hold": told.hold if told else None,
        "confidence_changes": facts.confidence,
        "revisions": facts.revisions,
    }


def _lines(all_facts: list[MemoryFacts], cells: int, *, reveal: bool) -> Iterator[Line]:
    now = now_ms()
    for number, facts in enumerate(all_facts):
        if number:
            yield line("")
        yield from detail_text(facts, cells, now, reveal=reveal).lines
        if facts.related:
            yield line("")
            yield line(Piece("── relations ".ljust(cells, "─"), "strong"))
            yield from _related(facts, cells, reveal=reveal)


def _related(facts: MemoryFacts, cells: int, *, reveal: bool) -> Iterator[Line]:
    last = ""
    for related in facts.related:
        edge = related.edge
        if edge.id != last:
            label = f" “{visible(edge.label, one_line=True)}”" if edge.label else ""
            head = f"{edge.type.value}{label} · weight {short_number(edge.weight)} · "
            yield line(head, Piece(visible(edge.id, one_line=True), "muted"))
            last = edge.id
        text = excerpt_line(related.row, max(10, cells - _ROLE_CELLS - _ID_CELLS - 6), reveal=reveal)
        role = visible(related.role, one_line=True).ljust(_ROLE_CELLS)
        yield line(
            f"  {role}", Piece(visible(related.row.short_id, one_line=True).ljust(_ID_CELLS), "muted"), "  ", *text
        )
