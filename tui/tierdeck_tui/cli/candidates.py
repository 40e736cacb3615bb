"""`tierdeck candidates`, `near` and `why`: what the rules would move, what lacks one thing, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import click

from tierdeck.promote.outlook.candidate_page import Candidate, CandidatePage
from tierdeck.promote.outlook.candidates import candidates, count_candidates
from tierdeck.promote.outlook.near import count_near, near
from tierdeck.promote.outlook.why import why
from tierdeck.promote.rules import RuleName, Rules, rules_of
from tierdeck.store import Store, read_rows, resolve_id, tier_moves
from tierdeck_tui.cli.output import put, put_json, put_lines, talk
from tierdeck_tui.cli.rule_options import rule_option
from tierdeck_tui.cli.run import Run
from tierdeck_tui.cli.terminal import width_cells
from tierdeck_tui.cli.verb import Verb
from tierdeck_tui.view.explanation_lines import explanation_lines
from tierdeck_tui.view.format import count
from tierdeck_tui.view.masked import masked_form
from tierdeck_tui.view.promotion.candidate_line import candidate_lines
from tierdeck_tui.view.promotion.decision_form import decision_form
from tierdeck_tui.view.promotion.sweep_form import candidate_forms

F = TypeVar("F", bound=Callable[..., Any])


def _list_options(function: F) -> F:
    for option in (
        click.option("--ids", "is_ids", is_flag=True, help="Full ids only, one a line."),
        click.option(
            "--limit",
            type=click.IntRange(min=1),
            default=50,
            show_default=True,
            metavar="N",
            help="How many at most.",
        ),
        rule_option,
    ):
        function = option(function)
    return function


@click.command("candidates", cls=Verb)
@_list_options
@click.pass_obj
def candidates_verb(run: Run, /, rule: RuleName | None, limit: int, is_ids: bool) -> None:
    """List the memories that the rules would move: every criterion passed, and nothing holds them.

    What comes back from the archive waits for a person: no rule moves it by itself. `tierdeck approve` moves them,
    `tierdeck sweep` those that are due.
    """
    if not _list(run, "candidates", candidates, count_candidates, rule, limit, is_ids=is_ids):
        talk("no candidates: nothing is due and nothing waits; `tierdeck near` lists what lacks one thing")


@click.command("near", cls=Verb)
@_list_options
@click.pass_obj
def near_verb(run: Run, /, rule: RuleName | None, limit: int, is_ids: bool) -> None:
    """List the memories that lack exactly one criterion, with what it is.

    Of task only those pulled at least once, of longterm those that are stale within 14 days; none that is held,
    dismissed or archived.
    """
    if not _list(run, "near", near, count_near, rule, limit, is_ids=is_ids):
        talk("nothing that was pulled lacks only one thing, and nothing is stale within 14 days")


@click.command("why", cls=Verb)
@click.argument("node_id", metavar="ID")
@click.pass_obj
def why_verb(run: Run, /, node_id: str) -> None:
    """Say why a memory is in its tier, and what it lacks to move: each criterion with found and needed.

    Also what holds it, its accesses, and everything that was decided about it.
    """
    with run.open() as store:
        full_id = resolve_id(store, node_id)
        rules: Rules = rules_of(run.settings.promotion)
        found = why(store, full_id, rules, store.now_ms())
        row = store.read(lambda conn: read_rows(conn, [full_id]))[full_id]
        moves = tier_moves(store, full_id)
    if run.is_json:
        document = {
            "decision": decision_form(found.decision),
            "facts": found.facts,
            "hold": found.hold,
            "accesses": found.accesses,
            "access_count": row.access_count,
            "history": found.history,
            "tier_moves": moves,
        }
        put_json(masked_form(document, reveal=False))
    else:
        put_lines(explanation_lines(found, row, moves, width_cells()))


class _Read(Protocol):
    """`candidates` or `near`."""

    def __call__(
        self, store: Store, rules: Rules, now_ms: int, *, rule: RuleName | None, limit_rows: int
    ) -> CandidatePage: ...


def _list(
    run: Run,
    name: str,
    read: _Read,
    count_by_rule: Callable[[Store, Rules, int], Mapping[RuleName, int]],
    rule: RuleName | None,
    limit: int,
    *,
    is_ids: bool,
) -> bool:
    """Write a list and say how much more there is of it; whether there was anything."""
    with run.open() as store:
        rules, now = rules_of(run.settings.promotion), store.now_ms()
        rows = read(store, rules, now, rule=rule, limit_rows=limit).rows
        counts = count_by_rule(store, rules, now)
    total = sum(counts.values()) if rule is None else counts.get(rule, 0)
    _put(run, name, rows, now, total, is_ids=is_ids)
    return bool(rows)


def _put(run: Run, name: str, rows: Sequence[Candidate], now: int, total: int, *, is_ids: bool) -> None:
    if run.is_json:
        put_json(masked_form({name: candidate_forms(rows), "total": total}, reveal=False))
    elif is_ids:
        if rows:
            put("\n".join(each.row.id for each in rows))
    else:
        cells = width_cells()
        put_lines(line for each in rows for line in candidate_lines(each.row, each.decision, cells, now))
    if total > len(rows):
        talk(f"{count(total - len(rows))} more; --limit shows more of them")
