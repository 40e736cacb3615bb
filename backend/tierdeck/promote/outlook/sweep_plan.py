"""What a sweep would move, before anything moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from tierdeck.model import Tier
from tierdeck.promote.evidence.facts import check_tracked
from tierdeck.promote.evidence.facts_sql import FactsSQL, facts_sql
from tierdeck.promote.moves.rules_in_force import rules_in_force
from tierdeck.promote.outlook.candidate_page import Candidate, read_page
from tierdeck.promote.outlook.due_sql import Source, candidate_sources, criteria_sql, parameters
from tierdeck.promote.outlook.tally import tally
from tierdeck.promote.rules import DEFAULT_RULES, FROM_TIER, Facts, RuleName, Rules, decide
from tierdeck.store import Store

# A sweep that moves more of longterm than this many percent wants to be confirmed.
CONFIRM_ABOVE_PERCENT = 10
_EXAMPLES = 5  # of each rule


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What the rules would move at `now_ms`, counted; nothing was changed to find out.

    `due` counts by rule, those that move by hand only left out; `held` and `dismissed` count the memories that pass
    their rule and stay. `rejections` counts by criterion the memories of its tier that fail it. `tiers` counts all
    memories. `needs_confirmation` says why this sweep must be confirmed, None when it need not be. `rules_seen` is
    the version in force when this was planned, `rule_version` the one it was planned by.
    """

    now_ms: int
    rule_version: str
    rules_seen: str | None
    due: Mapping[RuleName, int]
    held: int
    dismissed: int
    rejections: Mapping[str, int]
    tiers: Mapping[Tier, int]
    is_first: bool
    needs_confirmation: str | None
    examples: tuple[Candidate, ...]

    @property
    def longterm_rows(self) -> int:
        """How many memories are in longterm."""
        return self.tiers[Tier.LONGTERM]

    @property
    def due_rows(self) -> int:
        """How many memories would move."""
        return sum(self.due.values())


def plan_sweep(store: Store, rules: Rules = DEFAULT_RULES, now_ms: int | None = None) -> SweepPlan:
    """Count what a sweep would move, in one snapshot of the store, and write nothing.

    A store's first sweep must be confirmed, and one that would archive more than 10 % of longterm. A store has had
    its first sweep when one ended; one that was killed does not count.

    Args:
        rules: by default those of the README's table.
        now_ms: the moment that ages are counted to, milliseconds since the epoch; also when it is applied. None is
            now, by the store's clock.

    Returns:
        The plan; `examples` holds up to five memories of each rule, as `candidates` orders them.

    Raises:
        ReadOnlyStoreError: the store has no access records.
    Spec: SPEC-09.11 to SPEC-09.13
    """
    check_tracked(store)
    form, at_ms = facts_sql(store), store.now_ms() if now_ms is None else now_ms
    return store.read(lambda conn: _plan(conn, form, rules, at_ms))


def swept_sources(form: FactsSQL) -> tuple[Source, ...]:
    """Where a sweep finds what it moves, in the order of the tiers."""
    return tuple(source for source in candidate_sources(form) if source.rule != "archive-longterm")


def _plan(conn: apsw.Connection, form: FactsSQL, rules: Rules, now_ms: int) -> SweepPlan:
    sources = swept_sources(form)
    values = parameters(rules, now_ms)
    passing = {source.rule: tally(conn, source, values) for source in sources}
    tiers = _tiers(conn)
    rejections: dict[str, int] = {}
    for source in sources:
        of_tier = tiers[FROM_TIER[source.rule]]
        rejections |= _rejections(conn, form, source, rules, now_ms, of_tier, passing[source.rule].passing)
    due: dict[RuleName, int] = {rule: found.free for rule, found in passing.items()}
    is_first = _is_first(conn)
    return SweepPlan(
        now_ms=now_ms,
        rule_version=rules.version,
        rules_seen=rules_in_force(conn),
        due=due,
        held=sum(found.held for found in passing.values()),
        dismissed=sum(found.dismissed for found in passing.values()),
        rejections=rejections,
        tiers=tiers,
        is_first=is_first,
        needs_confirmation=_why_confirm(due, tiers[Tier.LONGTERM], is_first=is_first),
        examples=_examples(conn, form, sources, rules, now_ms),
    )


def _tiers(conn: apsw.Connection) -> dict[Tier, int]:
    quoted = ", ".join(f"'{tier}'" for tier in Tier)
    rows: Any = conn.execute(f"SELECT tier, count(*) FROM nodes WHERE tier IN ({quoted}) GROUP BY tier")
    found = dict(rows.fetchall())
    return {tier: found.get(tier.value, 0) for tier in Tier}


def _rejections(
    conn: apsw.Connection,
    form: FactsSQL,
    source: Source,
    rules: Rules,
    now_ms: int,
    tier_rows: int,
    passing_rows: int,
) -> dict[str, int]:
    """How many memories of the tier fail each criterion of its rule."""
    criteria = criteria_sql(form)[source.rule]
    if len(criteria) == 1:
        return dict.fromkeys(criteria, tier_rows - passing_rows)
    sums = ", ".join(f"coalesce(sum(NOT ({passed})), 0)" for passed in criteria.values())
    sql = f"SELECT count(*), {sums} FROM {source.counted}"
    row: Any = conn.execute(sql, parameters(rules, now_ms)).fetchone()
    # Those that td_facts does not know were never pulled; the rules themselves say what such a one lacks.
    never_pulled = decide(Facts("", FROM_TIER[source.rule]), rules, now_ms)
    lacking = {criterion.name for criterion in never_pulled.lacking}
    return {
        name: failed + (tier_rows - row[0] if name in lacking else 0)
        for name, failed in zip(criteria, row[1:], strict=True)
    }


def _is_first(conn: apsw.Connection) -> bool:
    ended = "SELECT 1 FROM td_promotion_run WHERE kind = 'sweep' AND ended_at IS NOT NULL LIMIT 1"
    return conn.execute(ended).fetchone() is None


def _why_confirm(due: Mapping[RuleName, int], longterm_rows: int, *, is_first: bool) -> str | None:
    if not sum(due.values()):
        return None
    stale = due["longterm-archive"]
    reasons = []
    if is_first:
        reasons.append(f"it is the first sweep of this store and would move {sum(due.values()):,}")
    if stale * 100 > longterm_rows * CONFIRM_ABOVE_PERCENT:
        reasons.append(
            f"it would archive {stale:,} of {longterm_rows:,} longterm memories, "
            f"{stale * 100 / longterm_rows:.0f} % "
            f"(unasked at most {CONFIRM_ABOVE_PERCENT} %)"
        )
    return "; ".join(reasons) or None


def _examples(
    conn: apsw.Connection, form: FactsSQL, sources: Sequence[Source], rules: Rules, now_ms: int
) -> tuple[Candidate, ...]:
    return tuple(
        row
        for source in sources
        for row in read_page(
            conn, form, sources, rules, now_ms, rule=source.rule, after=None, limit_rows=_EXAMPLES
        ).rows
    )
