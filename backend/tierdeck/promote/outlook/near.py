"""What lacks exactly one thing to be moved by the rules."""

from __future__ import annotations

from collections.abc import Mapping

from tierdeck.promote.outlook.candidate_page import CandidatePage, Place, page_of
from tierdeck.promote.outlook.due_sql import near_sources
from tierdeck.promote.outlook.tally import count_free
from tierdeck.promote.rules import DEFAULT_RULES, RuleName, Rules
from tierdeck.store import Store


def near(
    store: Store,
    rules: Rules = DEFAULT_RULES,
    now_ms: int | None = None,
    *,
    rule: RuleName | None = None,
    after: Place | None = None,
    limit_rows: int = 50,
) -> CandidatePage:
    """The memories that fail exactly one criterion of their rule, without those held or dismissed.

    Of task only those pulled at least once, of longterm those within 14 days of being stale, of archive none.

    Args:
        rules: by default those of the README's table.
        now_ms: milliseconds since the epoch; None is the store's clock.
        rule: only those near to it; None is all.
        after: the `next` of the page before.
        limit_rows: at most so many rows, 1 or more.

    Returns:
        By rule in the order of the tiers, and within it as `candidates` has them: of task the most pulls in one
        session first, then the most sessions, so that a memory pulled once in each of ten stands at the top. Of
        longterm those whose own columns tell a use before that of our records come last.

    Raises:
        ReadOnlyStoreError: the store has no access records.
        InvalidValueError: the limit is none.
    Spec: SPEC-09.11, SPEC-09.12
    """
    return page_of(store, near_sources, rules, now_ms, rule=rule, after=after, limit_rows=limit_rows)


def count_near(store: Store, rules: Rules = DEFAULT_RULES, now_ms: int | None = None) -> Mapping[RuleName, int]:
    """How many are near to each rule, in the order of the tiers; raises as `near` does."""
    return {**count_free(store, near_sources, rules, now_ms), "archive-longterm": 0}
