"""What other numbers in the rules would change, before anybody sets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import apsw

from tierdeck.promote.candidate_page import NOT_BLOCKED, Candidate, candidates_of, count_rows, pick
from tierdeck.promote.due_sql import Source, candidate_sources, parameters, passing_sql
from tierdeck.promote.facts import check_tracked
from tierdeck.promote.facts_sql import FactsSQL, facts_sql
from tierdeck.promote.rules import RuleName, Rules
from tierdeck.store import Store

_EXAMPLES = 5  # of each rule
_OTHER = "_other"


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Candidates by rule under the rules of now and under others.

    `gained` are examples of those that only the others would move, decided by them; `lost` of those that only the
    rules of now would, decided by these. The rows say how many there are of each.
    """

    now: Mapping[RuleName, int]
    then: Mapping[RuleName, int]
    gained: tuple[Candidate, ...]
    lost: tuple[Candidate, ...]
    gained_rows: Mapping[RuleName, int]
    lost_rows: Mapping[RuleName, int]


def what_if(store: Store, rules: Rules, other: Rules, now_ms: int) -> WhatIf:
    """Compare what two rule sets would move, in one snapshot of the store; nothing is changed.

    Args:
        rules: those of now.
        other: those to compare with.
        now_ms: milliseconds since the epoch.

    Returns:
        Counts as `count_candidates` has them; up to five examples of each rule, in the order of `candidates`.

    Raises:
        ReadOnlyStoreError: the store has no access records.
    Spec: SPEC-09.11, SPEC-09.12
    """
    check_tracked(store)
    form = facts_sql(store)

    def look(conn: apsw.Connection) -> WhatIf:
        sources = candidate_sources(form)
        gained = _only(conn, form, other, rules, now_ms)
        lost = _only(conn, form, rules, other, now_ms)
        return WhatIf(
            now=count_rows(conn, sources, parameters(rules, now_ms), NOT_BLOCKED),
            then=count_rows(conn, sources, parameters(other, now_ms), NOT_BLOCKED),
            gained=gained[0],
            lost=lost[0],
            gained_rows=gained[1],
            lost_rows=lost[1],
        )

    return store.read(look)


def _only(
    conn: apsw.Connection, form: FactsSQL, these: Rules, not_those: Rules, now_ms: int
) -> tuple[tuple[Candidate, ...], Mapping[RuleName, int]]:
    """Candidates of the one rule set that are none of the other: examples, and how many."""
    values = {**parameters(these, now_ms), **parameters(not_those, now_ms, _OTHER)}
    sources = [_without(source, form) for source in candidate_sources(form)]
    ids = [node_id for source in sources for node_id, _ in pick(conn, source, values, None, _EXAMPLES, NOT_BLOCKED)]
    return candidates_of(conn, form, ids, these, now_ms), count_rows(conn, sources, values, NOT_BLOCKED)


def _without(source: Source, form: FactsSQL) -> Source:
    return replace(source, where=f"{source.where} AND NOT ({passing_sql(form, source.rule, _OTHER)})")
