"""How many memories a source holds, and how many of them something blocks.

Counted apart, since few are blocked and a look at each memory of a million took seconds: in a store of ours the
others are counted in an index of td_facts alone (4 ms instead of 600 for 135,000), which triggers keep in step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.promote.evidence.facts_sql import DISMISSED, HELD, FactsSQL, facts_sql
from tierdeck.promote.outlook.due_sql import Source, parameters
from tierdeck.promote.rules import RuleName, Rules
from tierdeck.store import Store

_BLOCKED = (
    "(SELECT node_id FROM td_hold WHERE released_at IS NULL UNION SELECT node_id FROM td_dismissal) b "
    "CROSS JOIN nodes n ON n.id = b.node_id LEFT JOIN td_facts f ON f.node_id = n.id"
)


@dataclass(frozen=True, slots=True)
class Tally:
    """The memories of a source: all of them, and those that a hold or else a dismissal blocks."""

    passing: int
    held: int
    dismissed: int

    @property
    def free(self) -> int:
        """Those that nothing blocks."""
        return self.passing - self.held - self.dismissed


def tally(conn: apsw.Connection, source: Source, values: Mapping[str, int | float]) -> Tally:
    """Count the memories of one source."""
    passing: Any = conn.execute(f"SELECT count(*) FROM {source.counted} AND {source.where}", values).get
    blocked: Any = conn.execute(
        f"SELECT coalesce(sum({HELD}), 0), coalesce(sum(NOT {HELD} AND {DISMISSED}), 0) FROM {_BLOCKED} "
        f"WHERE {source.of_tier} AND {source.where}",
        values,
    ).fetchone()
    return Tally(passing, *blocked)


def count_free(
    store: Store, sources_of: Callable[[FactsSQL], Iterable[Source]], rules: Rules, now_ms: int | None
) -> dict[RuleName, int]:
    """`free_rows` of a store, in one snapshot of it; without a time as of its own clock.

    Raises:
        ReadOnlyStoreError: the store has no access records.
    """
    check_tracked(store)
    now = store.now_ms() if now_ms is None else now_ms
    sources, values = sources_of(facts_sql(store)), parameters(rules, now)
    return store.read(lambda conn: free_rows(conn, sources, values))


def free_rows(
    conn: apsw.Connection, sources: Iterable[Source], values: Mapping[str, int | float]
) -> dict[RuleName, int]:
    """How many of each rule's sources nothing blocks."""
    counts: dict[RuleName, int] = {}
    for source in sources:
        counts[source.rule] = counts.get(source.rule, 0) + tally(conn, source, values).free
    return counts
