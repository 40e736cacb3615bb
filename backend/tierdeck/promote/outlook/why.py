"""Why a memory is where it is, and what it lacks to move on."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from tierdeck.errors import NotFoundError
from tierdeck.promote.evidence.facts import check_tracked, facts_in
from tierdeck.promote.evidence.facts_sql import DISMISSED, facts_sql
from tierdeck.promote.log.entries import entries
from tierdeck.promote.moves.hold_rows import holds_in
from tierdeck.promote.records import Hold, LogEntry, LogFilter
from tierdeck.promote.rules import DEFAULT_RULES, Decision, Facts, Rules, decide
from tierdeck.store import AccessSummary, Store, access_summary

_DISMISSED = f"SELECT {DISMISSED} FROM nodes n LEFT JOIN td_facts f ON f.node_id = n.id WHERE n.id = :id"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the rules look at in one memory, what they say, what stands against it, and how it came to its tier.

    `is_dismissed`: a dismissal stands, also where a hold does. `history` holds the latest rows of the promotion
    log, newest first. `accesses` counts asked-for and pushed looks apart: rules count pulls only.
    """

    facts: Facts
    decision: Decision
    hold: Hold | None
    history: tuple[LogEntry, ...]
    accesses: AccessSummary
    is_dismissed: bool = False


def why(
    store: Store,
    node_id: str,
    rules: Rules = DEFAULT_RULES,
    now_ms: int | None = None,
    *,
    limit_rows: int = 100,
) -> Explanation:
    """Explain one memory, in one snapshot of the store; looking at it is no access.

    Args:
        node_id: a full id; an archived memory too.
        rules: by default those of the README's table.
        now_ms: milliseconds since the epoch; None is the store's clock.
        limit_rows: so many rows of history at most.

    Raises:
        NotFoundError: there is no such memory.
        ReadOnlyStoreError: the store has no access records.
    Spec: SPEC-09.11, SPEC-09.12, SPEC-09.14
    """
    check_tracked(store)
    form, at_ms = facts_sql(store), store.now_ms() if now_ms is None else now_ms

    def look(conn: apsw.Connection) -> Explanation:
        facts = facts_in(conn, form, [node_id], at_ms).get(node_id)
        if facts is None:
            raise NotFoundError(f"explain memory {node_id[:80]}: there is none in {store.path}")
        holds = holds_in(conn, [node_id], at_ms)
        return Explanation(
            facts=facts,
            decision=decide(facts, rules, at_ms),
            hold=holds[0] if holds else None,
            history=tuple(entries(store, LogFilter(node_id=node_id), limit_rows=limit_rows)),
            accesses=access_summary(store, node_id),
            is_dismissed=bool(conn.execute(_DISMISSED, {"id": node_id, "now": at_ms}).get),
        )

    return store.read(look)
