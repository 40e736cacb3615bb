"""The rules as SQL, for passes over many memories: the criteria of `rules.decide` once more, beside each other.

What they pick must be what `decide` says of the same facts; a test holds them together over random histories.
A list is read from one or more sources, one after the other. Each is in the order of an index of a store of ours,
so that a page costs its rows and not the store's; in an adopted one, which we may not index, it is sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tierdeck.promote.evidence.facts_sql import (
    ALL,
    FACTS_USE,
    LAST_USE,
    NODE_USE,
    PULLS_SINCE,
    TRACKING_SINCE,
    FactsSQL,
)
from tierdeck.promote.rules import DAY_MS, FROM_TIER, CriterionName, RuleName, Rules

# A longterm memory is near its end this many days before it counts as stale.
NEAR_DAYS = 14
_ENDLESS = 2**63 - 1
# As the index td_facts_session has it.
_HELD_KEY = "coalesce(f.conf_min, -1)"


@dataclass(frozen=True, slots=True)
class Source:
    """Memories of one tier in one order. `keys` are the columns of the order, the last of them unique.

    `where` is what picks them among those of the tier (`of_tier`). `counted` is a FROM and a WHERE to count them
    by, which leaves nodes out where td_facts alone tells.
    """

    rule: RuleName
    tables: str
    of_tier: str
    where: str
    keys: tuple[str, ...]
    is_falling: bool
    counted: str


def parameters(rules: Rules, now_ms: int, suffix: str = "") -> dict[str, int | float]:
    """The values of the criteria's parameters; `suffix` tells two rule sets in one statement apart."""
    stale = now_ms - rules.archive_days * DAY_MS
    numbers = {
        "session_pulls": rules.session_pulls,
        "longterm_sessions": rules.longterm_sessions,
        "longterm_successes": rules.longterm_successes,
        "longterm_confidence": rules.longterm_confidence,
        "stale": stale,
        # A use in the future is no nearer to its end than one of now.
        "near_stale": stale + NEAR_DAYS * DAY_MS if rules.archive_days > NEAR_DAYS else _ENDLESS,
    }
    return {"now": now_ms, **{f"{name}{suffix}": number for name, number in numbers.items()}}


def criteria_sql(form: FactsSQL, suffix: str = "") -> dict[RuleName, dict[CriterionName, str]]:
    """Every rule's criteria as conditions on `n` and `f`; never NULL where a memory has facts."""
    s = suffix
    return {
        "task-session": {"pulls in one session": f"f.max_in_root >= :session_pulls{s}"},
        "session-longterm": {
            "sessions": f"f.roots >= :longterm_sessions{s}",
            "successes": f"f.ok >= :longterm_successes{s}",
            "failures": "f.bad <= f.ok",
            # BETWEEN evaluates it once; a text that another program left there lies above every number.
            "confidence held": f"(f.roots > 0 AND coalesce({form.held}, -1) "
            f"BETWEEN :longterm_confidence{s} AND 9e999)",
        },
        "longterm-archive": {"days unused": f"{LAST_USE} < :stale{s}"},
        "archive-longterm": {"pulls since": f"{PULLS_SINCE} >= 1"},
    }


def passing_sql(form: FactsSQL, rule: RuleName, suffix: str = "") -> str:
    """The condition that every criterion of the rule passes."""
    return " AND ".join(criteria_sql(form, suffix)[rule].values())


def candidate_sources(form: FactsSQL) -> tuple[Source, ...]:
    """Where the candidates of each rule are found, blocked ones too, in the order of the tiers."""
    return tuple(
        replace(source, where=f"{source.where} AND {passing_sql(form, source.rule)}")
        for source in (_task(form), _session(form), _stale(form), _archive())
    )


def near_sources(form: FactsSQL) -> tuple[Source, ...]:
    """Where those are found that lack exactly one criterion, blocked ones too."""
    criteria = criteria_sql(form)
    [pulls] = criteria["task-session"].values()
    [stale] = criteria["longterm-archive"].values()
    four = criteria["session-longterm"].values()
    task, session = _task(form), _session(form)
    return (
        replace(task, where=f"f.max_in_root >= 1 AND NOT ({pulls})"),
        replace(session, where=f"{' + '.join(f'({passed})' for passed in four)} = {len(four) - 1}"),
        *(
            replace(source, where=f"{source.where} AND {LAST_USE} <= :near_stale AND NOT ({stale})")
            for source in _nearly_stale(form)
        ),
    )


def in_row_order(source: Source, form: FactsSQL) -> Source:
    """The source in an order that needs no sorting, for going through all of it page by page."""
    if form.is_own:
        return source
    return replace(source, keys=(source.keys[-1],), is_falling=False)


def _task(form: FactsSQL) -> Source:
    keys = ("f.max_in_root", "f.roots", "f.last_pull", "f.node")
    return _used(form, "task-session", "td_facts_task", keys, is_falling=True)


def _session(form: FactsSQL) -> Source:
    keys = ("f.roots", "f.ok", "f.bad", _HELD_KEY, "f.node")
    return _used(form, "session-longterm", "td_facts_session", keys, is_falling=True)


def _archive() -> Source:
    # The index holds only those that pass, in an adopted store too: the criterion asks td_facts for the tier.
    tables = "td_facts f INDEXED BY td_facts_archive CROSS JOIN nodes n ON n.id = f.node_id"
    of_tier = "f.tier = 'archive' AND f.last_pull_id > f.tier_after AND n.tier = 'archive'"
    keys = ("f.last_pull_id", "f.node")
    return Source(
        "archive-longterm", tables, of_tier, "1", keys, is_falling=True, counted=f"{tables} WHERE {of_tier}"
    )


def _stale(form: FactsSQL) -> Source:
    # The first condition is asked once: while tracking is young nothing is looked through.
    where = f"{TRACKING_SINCE} < :stale AND {NODE_USE} < :stale"
    return _idle(form, where)


def _nearly_stale(form: FactsSQL) -> tuple[Source, ...]:
    """Those within the days before, in up to three parts.

    In a store of ours most of those used before `:stale` are stale; going through them all took 0.3 s of a million.
    So the others are reached from where they differ: the day tracking began, or td_facts. The last part is nearly
    always empty, and its range is not: it is only read when the others did not fill the page.
    """
    if not form.is_own:
        return (_idle(form, "1"),)
    by_facts = _used(form, "longterm-archive", "td_facts_longterm", (FACTS_USE, "f.node"), is_falling=False)
    by_facts = replace(by_facts, counted=f"{by_facts.tables} WHERE {by_facts.of_tier}")
    return (
        _idle(form, f"{TRACKING_SINCE} >= :stale AND {NODE_USE} < :stale"),
        _idle(form, f"{NODE_USE} >= :stale AND {NODE_USE} <= :near_stale"),
        replace(
            by_facts,
            where=f"{TRACKING_SINCE} < :stale AND {FACTS_USE} >= :stale AND {FACTS_USE} <= :near_stale "
            f"AND {NODE_USE} < :stale",
        ),
    )


def _used(form: FactsSQL, rule: RuleName, index: str, keys: tuple[str, ...], *, is_falling: bool) -> Source:
    """Memories that td_facts knows; CROSS JOIN keeps the planner from beginning at nodes."""
    tier = FROM_TIER[rule]
    hint = f" INDEXED BY {index}" if form.is_own else ""
    tables = f"td_facts f{hint} CROSS JOIN nodes n ON n.id = f.node_id"
    of_tier = f"{form.tier_hint(tier)} AND n.tier = '{tier}'"
    counted = f"td_facts f{hint} WHERE {form.tier_hint(tier)}" if form.is_own else f"{tables} WHERE {of_tier}"
    return Source(rule, tables, of_tier, "1", keys, is_falling, counted)


def _idle(form: FactsSQL, where: str) -> Source:
    tables = ALL.replace("nodes n", "nodes n INDEXED BY td_nodes_idle", 1) if form.is_own else ALL
    of_tier = "n.tier = 'longterm' AND typeof(n.id) = 'text'"
    keys = (NODE_USE, "n.rowid")
    return Source(
        "longterm-archive", tables, of_tier, where, keys, is_falling=False, counted=f"{tables} WHERE {of_tier}"
    )
