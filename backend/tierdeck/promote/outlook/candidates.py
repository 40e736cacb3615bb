"""What the rules would move: every criterion passed, and neither a hold nor a dismissal stands against it."""

from __future__ import annotations

from collections.abc import Mapping

from tierdeck.promote.outlook.candidate_page import CandidatePage, Place, page_of
from tierdeck.promote.outlook.due_sql import candidate_sources
from tierdeck.promote.outlook.tally import count_free
from tierdeck.promote.rules import DEFAULT_RULES, RuleName, Rules
from tierdeck.store import Store


def candidates(
    store: Store,
    rules: Rules = DEFAULT_RULES,
    now_ms: int | None = None,
    *,
    rule: RuleName | None = None,
    after: Place | None = None,
    limit_rows: int = 50,
) -> CandidatePage:
    """The memories that pass every criterion of their rule, without those held or dismissed.

    An archived memory that was pulled again is listed too, though no rule moves it: that is done by hand.

    Args:
        rules: by default those of the README's table.
        now_ms: milliseconds since the epoch; None is the store's clock.
        rule: only its candidates; None is all.
        after: the `next` of the page before.
        limit_rows: at most so many rows, 1 or more.

    Returns:
        By rule in the order of the tiers. Of task those with the most pulls in one session first, then by
        sessions, then by the latest pull; of session those with the most sessions, then successes, failures and
        confidence; of longterm the longest unused; of archive the latest pulled. Ties go by the row in the store.

    Raises:
        ReadOnlyStoreError: the store has no access records.
        InvalidValueError: the limit is none.
    Spec: SPEC-09.11, SPEC-09.12
    """
    return page_of(store, candidate_sources, rules, now_ms, rule=rule, after=after, limit_rows=limit_rows)


def count_candidates(
    store: Store, rules: Rules = DEFAULT_RULES, now_ms: int | None = None
) -> Mapping[RuleName, int]:
    """How many candidates each rule has, in the order of the tiers; raises as `candidates` does."""
    return count_free(store, candidate_sources, rules, now_ms)
