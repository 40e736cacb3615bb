"""What other numbers in the rules would change, before anybody sets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import apsw

from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.promote.evidence.facts_sql import FactsSQL, facts_sql
from tierdeck.promote.outlook.candidate_page import NOT_BLOCKED, Candidate, candidates_of, pick
from tierdeck.promote.outlook.due_sql import candidate_sources, parameters, passing_sql
from tierdeck.promote.outlook.tally import free_rows
from tierdeck.promote.rules import RuleName, Rules
from tierdeck.store import Store

_EXAMPLES = 5  # of each rule
_OTHER = "_other"


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Candidates by rule under the rules of now and under others.

    `gained` are examples of those that only the others would move, decided by them; `lost` of those that only the
    rules of now would, decided by these. The rows say how many there are of each; a rule whose numbers are the same
    has none.
    """

    now: Mapping[RuleName, int]
    then: Mapping[RuleName, int]
    gained: tuple[Candidate, ...]
    lost: tuple[Candidate, ...]
    gained_rows: Mapping[RuleName, int]
    lost_rows: Mapping[RuleName, int]


def what_if(store: Store, rules: Rules, other: Rules, now_ms: int | None = None) -> WhatIf:
    """Compare what two rule sets would move, in one snapshot of the store; nothing is changed.

    Args:
        rules: those of now.
        other: those to compare with.
        now_ms: milliseconds since the epoch; None is the store's clock.

    Returns:
        Counts as `count_candidates` has them; up to five examples of each rule, in the order of `candidates`.

    Raises:
        ReadOnlyStoreError: the store has no access records.
    Spec: SPEC-09.11, SPEC-09.12
    """
    check_tracked(store)
    form, at_ms = facts_sql(store), store.now_ms() if now_ms is None else now_ms

    def look(conn: apsw.Connection) -> WhatIf:
        now = free_rows(conn, candidate_sources(form), parameters(rules, at_ms))
        gained, gained_rows = _only(conn, form, other, rules, at_ms)
        lost, lost_rows = _only(conn, form, rules, other, at_ms)
        then = {rule: rows + gained_rows.get(rule, 0) - lost_rows.get(rule, 0) for rule, rows in now.items()}
        return WhatIf(now, then, gained, lost, gained_rows, lost_rows)

    return store.read(look)


def _only(
    conn: apsw.Connection, form: FactsSQL, these: Rules, not_those: Rules, now_ms: int
) -> tuple[tuple[Candidate, ...], Mapping[RuleName, int]]:
    """Candidates of the one rule set that are none of the other: examples, and how many."""
    values, others = parameters(these, now_ms), parameters(not_those, now_ms)
    changed = [name for name, number in values.items() if number != others[name]]
    sources = [
        replace(source, where=f"{source.where} AND NOT ({passing_sql(form, source.rule, _OTHER)})")
        for source in candidate_sources(form)
        # Going through a rule whose numbers are the same would take seconds of a million memories and find nothing.
        if any(f":{name}" in source.where for name in changed)
    ]
    both = {**values, **parameters(not_those, now_ms, _OTHER)}
    ids = [node_id for source in sources for node_id, _ in pick(conn, source, both, None, _EXAMPLES, NOT_BLOCKED)]
    return candidates_of(conn, form, ids, these, now_ms), free_rows(conn, sources, both)
